// What `ridge check` and `ridge grade` are told.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ridge {

struct GradeArguments {
  std::string lab;
  std::string submission;            // folder; empty: the student's own
  std::string wrong;                 // a wrong solution by its name, over `submission` or else the reference
  std::vector<std::string> replace;  // files that stand in for others: "wrong/x.cu" (its first line says for which)
  std::string backend = "auto";
  std::string task;
  std::string json, junit, gradescope, prairielearn;  // also writes the result here
  bool autolab = false;                               // Autolab's lines on stdout, and nothing else
  bool official = false;                              // the course's own judgement: signed, and says less
  std::string ranks_through;                          // launcher of one agent a rank: "srun --mpi=pmix"
  std::string build_into, built;                      // builds and judges apart (built.hpp)
  std::string seed_file;                              // a course's secret seed; empty: a new one each time
  double time_limit = 0;
  bool sanitize = false;
  bool require_sandbox = false;  // refuses to run where a layer of it is missing
  bool with_reference = false;   // backend cuda: the reference solution takes turns too
  bool quiet = false;
  std::string note;              // the hypothesis, for the work log
  std::string live, live_token;  // also sends the result to the collector of this address (ridge live)
  std::string live_name;         // under this name
  bool silent = false;           // not even a build's messages, and no exit of its own
  std::function<void(const std::string&)> progress = {};  // in place of the own line
};

// The options that both commands have.
void add_grading_options(CLI::App& command, GradeArguments& arguments);

}  // namespace ridge
