// `ridge cluster ...` and `ridge submit`, as they join the command line.
#pragma once
#include <functional>

namespace CLI {
class App;
}

namespace ridge::cluster {

// Adds the commands; the function runs the one that was named, and returns its exit code, or -1 where none was.
std::function<int()> add_commands(CLI::App& app);

}  // namespace ridge::cluster
