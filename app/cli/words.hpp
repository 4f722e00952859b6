// The words of the command line: what may come next, and what was meant by one that is not known.
#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ridge {

// Prints the words that may come next, one a line, for a shell's completion. `words`: those behind `ridge`, the last of
// which is being typed.
void complete(const CLI::App& app, const std::vector<std::string>& words);

// After a usage error: says on stderr which command or option was meant. `words` begin with the program's name.
void suggest(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace ridge
