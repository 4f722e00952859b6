// Plays `interval` for entry.cu.
#pragma once
#include <vector>

#include "interval.hpp"
#include "lab/call.hpp"

// in[0]: for each run 5 doubles, as Run has them, and a number of steps. out[0]: for each run 6 doubles: mean time between
// failures, expected seconds and goodput of the steps, young, daly, best steps. Sizes: runs.
inline void call_interval(const ridge_call& c) {
  const auto* in = static_cast<const double*>(c.in[0]);
  std::vector<double> out;
  for (long long i = 0; i < c.size[0]; ++i, in += 6) {
    const Run run{static_cast<int>(in[0]), in[1], in[2], in[3], in[4]};
    const auto steps = static_cast<long long>(in[5]);
    out.insert(out.end(), {mean_between_failures(run), expected_seconds(run, steps), goodput(run, steps), young(run),
                           daly(run), static_cast<double>(best_steps(run))});
  }
  cudaMemcpyAsync(c.out[0], out.data(), out.size() * sizeof out[0], cudaMemcpyHostToDevice, c.stream);
  cudaStreamSynchronize(c.stream);
}
