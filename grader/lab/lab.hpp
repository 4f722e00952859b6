// A lab's manifest, lab.toml.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "checks/check.hpp"
#include "grader/base/names.hpp"
#include "grader/base/paths.hpp"
#include "grader/lab/prediction.hpp"

namespace ridge {

struct Goal {
  std::string id;
  std::string title;
  lab::Backend backend = lab::Backend::cpu;
  std::string metric;
  double zero = 0;  // value that earns nothing
  double full = 0;  // value that earns all points
  double points = 0;
  std::string after;        // a goal of the same task that must be met in full first
  std::string lesson = {};  // section of README.md that tells of it ("task-1-copy"); empty: the task's
};

// Hints are shown one by one. One whose `answers` name what failed comes first.
struct Hint {
  std::string text;
  std::vector<std::string> answers = {};  // ids of goals, names of gates ("correct") or of causes ("race-shared")
};

struct Task {
  std::string id;
  std::string title;
  std::string file;
  double points_correct = 0;
  std::string needs;                   // "sm_90a": runs on such a GPU, and is skipped on others
  std::string baseline;                // the library's function in baseline.cu: "cublasSgemm"
  std::string lesson = {};             // section of README.md; empty: the one whose heading has the id
  std::vector<int> ranks = {};         // numbers of ranks that it is judged with; empty: one worker
  std::vector<std::string> from = {};  // earlier tasks whose answers this one starts from
  std::vector<Hint> hints;
  std::vector<Goal> goals;

  // The emulator runs it: it is an H200, and a task that needs one is judged there where it has a goal for backend cpu.
  bool runs_emulated() const;
  // 0 where the backend can't run it.
  double points(lab::Backend backend) const;
};

struct Lab {
  std::string name;  // NN_name
  fs::path dir;
  std::string title;
  int order = 0;
  int minutes = 0;
  std::vector<lab::Backend> backends;
  std::vector<std::string> files;               // what a student edits
  std::vector<std::string> prerequisites;       // other labs
  std::vector<std::string> libraries;           // "cublas", "nccl": what a submission may call
  std::vector<int> ranks;                       // all numbers of ranks that its tasks are judged with
  std::vector<std::string> baseline_libraries;  // what the baseline calls
  // By backend, functions that a submission may not call though others may: "cudaMemcpyAsync", "cudaGraphAdd*".
  std::map<lab::Backend, std::vector<std::string>> forbid;
  std::vector<std::string> entry_calls;        // forbidden names that the course's entry calls itself
  std::vector<std::string> forbidden_headers;  // headers that a submission may not include
  std::vector<Task> tasks;
  std::vector<Prediction> predictions;  // in the order in which they are asked

  bool has_backend(lab::Backend backend) const;  // one that names none has all
  int least_gpus() const;                        // with fewer, backend cuda can judge no task
  int most_gpus(int here) const;                 // that a judge uses of `here`: one a rank
};

// The module with the lab's checks: build/lib/labs/NN_name.so.
inline fs::path check_module(const Lab& lab) { return build_dir() / "lib/labs" / (lab.name + ".so"); }

// What the emulator runs code for.
inline constexpr const char* kEmulatedCompute = "9.0";

// Whether a GPU of this compute capability ("9.0"; empty: no GPU) runs code for `needs`: "sm_80" and later ones,
// "sm_90a" itself only.
bool runs_on(const std::string& needs, const std::string& compute);

// All labs, in order.
std::vector<Lab> load_labs();
// The lab for "01", "1", "01_coalescing" or "coalescing". Throws a usage error that lists what there is.
Lab find_lab(const std::string& key);
// Reads one folder's lab.toml; throws with file and line where it is wrong.
Lab load_lab(const fs::path& dir);
// The manifest's text, as if it lay in `dir`.
Lab parse_lab(std::string_view text, const fs::path& dir);

}  // namespace ridge
