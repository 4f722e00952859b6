// Plays `resume` for entry.cu.
#pragma once
#include <vector>

#include "files/ranks.hpp"
#include "lab/call.hpp"
#include "resume.hpp"
#include "resume_plan.hpp"

// in[0]: n weights at the beginning of each run. Sizes: n, samples, seed, steps, the step at which each run is killed. out[0]: for each
// run the losses without a kill, then for each resumed one (0 where it made no step); then what load_trainer said: of each
// resumed run, of each of kLoads files, and after each of kFailures saves. out[1]: the weights after each of the first four.
// out[2]: of each run weights, m and v at its last save.
inline void call_resume(const ridge_call& c) {
  const int n = static_cast<int>(c.size[0]), steps = static_cast<int>(c.size[3]);
  float* arrays = static_cast<float*>(c.workspace);
  auto* weights = static_cast<float*>(c.out[1]);
  const auto start = [&](int run, float* to) {
    Trainer t;
    t.n = n, t.samples = static_cast<int>(c.size[1]), t.seed = static_cast<std::uint64_t>(c.size[2]);
    t.weights = to, t.m = arrays, t.v = arrays + n, t.gradient = arrays + 2 * n, t.loss_overflow = arrays + 3 * n;
    t.random = static_cast<std::uint64_t>(run) + 1;
    begin_epoch(t, t.samples, t.seed);
    cudaMemcpyAsync(to, static_cast<const float*>(c.in[0]) + run * n, 4 * n, cudaMemcpyDeviceToDevice, c.stream);
    cudaMemsetAsync(arrays, 0, 8 * n, c.stream);
    return t;
  };
  auto* saved = static_cast<float*>(c.out[2]);
  std::vector<float> losses;
  for (int run = 0; run < kRuns; ++run) {
    Trainer t = start(run, weights + run * n);
    while (t.step < steps) {
      losses.push_back(train_one_step(t, c.stream));
      if (t.step != c.size[4 + run] / 2 && t.step != c.size[4 + run]) continue;
      files::mark(kSaved, save_trainer(t, kRunPaths[run], c.stream) ? 1 : 0);
      if (t.step != c.size[4 + run]) continue;
      for (const float* from : {t.weights, t.m, t.v}) {
        cudaMemcpyAsync(saved, from, 4 * n, cudaMemcpyDeviceToDevice, c.stream);
        saved += n;
      }
    }
  }
  files::mark(kCrash);
  std::vector<float> said;
  for (int run = 0; run < kRuns; ++run) {
    Trainer t = start(run, weights + (kRuns + run) * n);
    said.push_back(load_trainer(t, kRunPaths[run], c.stream) ? 1 : 0);
    std::vector<float> mine(static_cast<std::size_t>(steps), 0);
    if (said.back() == 1 && t.step >= 0)
      while (t.step < steps) {
        const float loss = train_one_step(t, c.stream);
        if (t.step >= 1 && t.step <= steps) mine[static_cast<std::size_t>(t.step) - 1] = loss;
      }
    losses.insert(losses.end(), mine.begin(), mine.end());
  }
  for (int load = 0; load < kLoads; ++load) {
    files::mark(kReady);
    Trainer t = start(0, arrays + 3 * n + 2);
    said.push_back(load_trainer(t, kRunPaths[0], c.stream) ? 1 : 0);
  }
  for (int failure = 0; failure < kFailures; ++failure) {
    files::mark(kCallFails, failure);
    Trainer t = start(1, arrays + 3 * n + 2);
    files::mark(kHasFailed, save_trainer(t, kRunPaths[0], c.stream) ? 1 : 0);
    said.push_back(load_trainer(t, kRunPaths[0], c.stream) ? 1 : 0);
  }
  losses.insert(losses.end(), said.begin(), said.end());
  cudaMemcpyAsync(c.out[0], losses.data(), losses.size() * sizeof losses[0], cudaMemcpyHostToDevice, c.stream);
  cudaStreamSynchronize(c.stream);
}
