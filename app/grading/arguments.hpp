// The arguments of `ridge check` and `ridge grade`; watch and demo judge through them, too.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checks/check.hpp"
#include "learn/live/send.hpp"

namespace CLI {
class App;
}

namespace ridge {

struct GradeArguments {
  std::string lab;
  std::string submission;               // folder; empty: work/NN_name
  std::string wrong;                    // name of a wrong solution, laid over `submission` or else over the reference
  std::vector<std::string> replace;     // files such as "wrong/x.cu", whose first line names the file they replace
  std::optional<lab::Backend> backend;  // none: chosen for the lab and the machine
  std::string task;
  std::string json, junit, gradescope, prairielearn;  // files that the result is also written to
  bool autolab = false;                               // prints only what Autolab reads
  bool official = false;                              // the course's own judgement, which is signed and reports less
  std::string ranks_through;                          // launcher of one agent per rank, such as "srun --mpi=pmix"
  std::string build_into, built;                      // folder to only build into; folder of such a build to judge
  std::string seed_file;                              // a course's secret seed; empty: a new seed each time
  double time_limit = 0;                              // seconds for one run; 0: the default
  bool sanitize = false;
  bool require_sandbox = false;  // refuses to run if a layer of the sandbox is missing
  bool with_reference = false;   // on a GPU, the reference solution takes turns with the submission
  bool quiet = false;            // prints no report
  std::string note;              // the student's hypothesis, for the work log
  bool predicts = false;         // asks for predictions where somebody sits at the terminal
  loop::LiveTarget live;         // the board of a `ridge live` that the result is sent to; without url: none
  bool silent = false;           // prints no build errors either
  std::function<void(const std::string&)> progress = {};  // shows progress instead of the line on the terminal
};

// Adds the options that check and grade share.
void add_grading_options(CLI::App& command, GradeArguments& arguments);

}  // namespace ridge
