// Explains in words what the workers' replies say about a submission.
#pragma once
#include <string>
#include <vector>

#include "grader/worker/submission_workers.hpp"
#include "grader/worker/worker_process.hpp"

namespace ridge {

struct Gate {
  std::string check;  // empty: passed
  std::string message;
  std::string secret = {};  // what may be said where the inputs are secret; empty: what the check's name says
  Cause cause = Cause::none;
  std::string picture = {};  // of a wrong answer
  int rank = 0;              // whose failure it is
};

// Explains what a failed request says about the submission.
class Explainer {
 public:
  Explainer(fs::path program, double limit) : program_(std::move(program)), limit_(limit) {}
  Gate operator()(const Reply& r) const;

 private:
  Gate in_words(const Reply& r) const;

  fs::path program_;
  double limit_;
};

// "cudaFree [at 0x12f0]" -> "cudaFree (mlp.cu:14)", for all such places. Of several, "[at 0x12f0 0x3410]", the
// innermost one in a file of the submission.
std::string with_lines(std::string text, const fs::path& program);

// Under the sanitizer: kernels that ended in time without it are slow, not wrong. Takes out their replies and those
// that may only miss the slow rank; what other ranks found stays. True where there was one.
bool forgive_slow(std::vector<Reply>& replies);

// Explains the replies of all workers. `ranks` is 0 for a task without ranks. Of several failures it reports a memory
// fault if there is one, else the earliest: other ranks may have failed only because they waited for that one.
Gate explain_all(const Explainer& explain, const std::vector<Reply>& replies, int ranks);

}  // namespace ridge
