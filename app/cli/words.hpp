// Words of the command line: completes them for a shell, and suggests the nearest to an unknown one.
#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ridge {

// Prints the words that may come next, one a line. `words` are those after `ridge`; the last one is being typed.
void complete(const CLI::App& app, const std::vector<std::string>& words);

// After a usage error, says on stderr which command or option was probably meant. `words` begin with the program's
// name.
void suggest(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace ridge
