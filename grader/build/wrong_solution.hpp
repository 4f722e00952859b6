// A lab's solutions that are wrong or slow in a known way: labs/NN_name/wrong.toml, and files in labs/NN_name/wrong/.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grader/lab/lab.hpp"

namespace ridge {

struct WrongSolution {
  std::string name;
  std::string file;                          // of the lab, for which it stands
  std::string task, check;                   // the check of the task that fails first
  lab::Backend backend = lab::Backend::cpu;  // where it fails
  std::string base = "solution";  // what is edited: "solution", "stub" or "steps/NAME.cu"; empty: `source` is complete
  std::string why;                // what is wrong, as a teacher would say it
  std::vector<std::pair<std::string, std::string>>
      edits;        // an old text, which occurs once in the base, and the new one
  fs::path source;  // a file in wrong/
};

// All of a lab, by name. Throws Error(Exit::environment) with file and name where one is not complete.
std::vector<WrongSolution> wrong_solutions(const Lab& lab);
// Throws Error(Exit::usage) with the names that there are.
WrongSolution wrong_solution(const Lab& lab, const std::string& name);

// The file that is judged. Throws Error(Exit::environment) where an old text does not occur exactly once.
std::string source_of(const WrongSolution& wrong, const Lab& lab);

// The parts of the above that read no file: the entries of a wrong.toml, and a base with one entry's edits. Both throw
// Error(Exit::environment); `name` is what messages call the base.
std::vector<WrongSolution> parse_wrong_solutions(std::string_view text, const fs::path& manifest);
std::string edited(const WrongSolution& wrong, const std::string& base_text, const std::string& name,
                   const fs::path& manifest);

}  // namespace ridge
