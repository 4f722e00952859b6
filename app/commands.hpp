// The commands of `ridge`, each returning its exit code.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "ceilings/calibration.hpp"
#include "grader/result/result.hpp"

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

struct VerifyArguments {
  std::vector<std::string> files;
  std::vector<std::string> keys;  // digits or files: who may sign; empty: anybody
  std::string after;              // an attempt: records up to it are old
  std::string submission;         // the folder that the record must be about
};

struct ReportArguments {
  std::vector<std::string> files;  // --html takes many, the others one
  std::string format = "terminal", out, html;
};

struct DoctorArguments {
  bool links = false;
  double measure = 0;  // seconds: only measures the links, in the process that check_links starts
};

struct CalibrateArguments {
  std::string json;    // also writes the measurement here
  bool quick = false;  // memory and matrix products only, and not kept
};

struct BenchArguments {
  std::string lab;  // empty: all
  std::string backend = "auto";
  std::string out;       // folder; empty: benchmarks/<device>
  bool check = false;    // at the sizes of `ridge check`
  std::string task;      // of emulate_gpus: only this one
  int emulate_gpus = 0;  // the emulator's virtual time of the cases that so many GPUs are timed on
  bool steps = false;    // the steps of the solutions in place of the solutions
  bool tables = false;   // only writes the tables of the steps
};

struct FidelityArguments {
  std::string ncu, times;             // a recording; empty: this machine's GPU, else the repository's
  std::string out;                    // without .md and .json
  std::string record;                 // only records, into this folder
  std::vector<std::string> programs;  // empty: all
};

int command_labs(bool json);
int command_start(const std::string& lab);
// As `ridge check` does it, with the result for the caller.
int check_into(const GradeArguments& arguments, Result& result);
int command_check(const GradeArguments& arguments);
int command_grade(const GradeArguments& arguments);
int command_key_new(const std::string& file);
int command_key_show(const std::string& file);
int command_verify(const VerifyArguments& arguments);
int command_report(const ReportArguments& arguments);
int command_demo(bool full);
int command_doctor(const DoctorArguments& arguments);
int command_cc(const std::vector<std::string>& arguments);
int command_viz(std::vector<std::string> arguments);
int command_ranks(int ranks);
int command_calibrate(const CalibrateArguments& arguments);
// What is kept for this machine's GPU; where there is nothing and `measure` says so, it is measured and kept.
Calibration calibration_for(bool measure, const std::function<void(const std::string&)>& progress);
// Throws where a GPU is asked for and there is none.
bool bench_on_gpu(const BenchArguments& arguments);
// Its folder in benchmarks/: "NVIDIA H200" is in "h200".
std::string folder_of(const std::string& device, int gpus = 1);
int command_bench_labs(const BenchArguments& arguments);
int command_bench_steps(const BenchArguments& arguments);
int command_bench_tables(const BenchArguments& arguments);
int command_bench_fidelity(const FidelityArguments& arguments);

}  // namespace ridge
