// The commands of `ridge`, each returning its exit code.
#pragma once
#include <string>
#include <vector>

namespace ridge {

struct GradeArguments {
  std::string lab;
  std::string submission;            // folder; empty: the student's own
  std::vector<std::string> replace;  // files that stand in for others: "wrong/x.cu" (its first line says for which)
  std::string backend = "auto";
  std::string task;
  std::string json;  // also writes the result here
  double time_limit = 0;
  bool sanitize = false;
  bool require_sandbox = false;  // refuses to run where a layer of it is missing
  bool quiet = false;
};

struct FidelityArguments {
  std::string ncu, times;             // a recording; empty: this machine's GPU, else the repository's
  std::string out;                    // without .md and .json
  std::string record;                 // only records, into this folder
  std::vector<std::string> programs;  // empty: all
};

int command_labs(bool json);
int command_start(const std::string& lab);
int command_check(const GradeArguments& arguments);
int command_grade(const GradeArguments& arguments);
int command_demo(bool full);
int command_doctor();
int command_cc(const std::vector<std::string>& arguments);
int command_viz(const std::vector<std::string>& arguments);
int command_ranks(int ranks);
int command_bench_fidelity(const FidelityArguments& arguments);

}  // namespace ridge
