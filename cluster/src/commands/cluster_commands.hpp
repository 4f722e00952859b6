// `ridge cluster ...` and `ridge submit`, as they join the command line.
#pragma once

namespace ridge {
class Commands;
}

namespace ridge::cluster {

void add_commands(Commands& ridge);

}  // namespace ridge::cluster
