// Plays `reshard` for entry.cu.
#pragma once
#include <cmath>
#include <vector>

#include "files/ranks.hpp"
#include "lab/call.hpp"
#include "reshard.hpp"
#include "reshard_plan.hpp"

// in[0]: for each tensor rows, columns, split, bucket, as int. Sizes: tensors, buckets, tensor and data parts of the
// grid that wrote, floats of out[0]. out[0]: for each target and each of its ranks own_elements, then so many floats.
inline void call_reshard(const ridge_call& c) {
  const auto* in = static_cast<const int*>(c.in[0]);
  std::vector<Tensor> tensors;
  for (long long k = 0; k < c.size[0]; ++k, in += 4)
    tensors.push_back({in[0], in[1], static_cast<Split>(in[2]), in[3]});
  const Model model{tensors.data(), static_cast<int>(c.size[0]), static_cast<int>(c.size[1])};
  const Grid from{static_cast<int>(c.size[2]), static_cast<int>(c.size[3])};
  const auto room = static_cast<std::size_t>(c.size[4]);
  std::vector<float> out;
  for (const auto& target : kTargets) {
    const Grid to{target[0], target[1]};
    for (int rank = 0; rank < to.ranks(); ++rank) {
      files::mark(kNextRank);
      long long n = 0;
      files::lives_through(rank, [&] { n = own_elements(model, to, rank); });
      out.push_back(static_cast<float>(n));
      if (n < 0 || static_cast<std::size_t>(n) + out.size() > room) break;  // wrong, and the judge says so
      std::vector<float> own(static_cast<std::size_t>(n), NAN);
      files::lives_through(rank, [&] { load_resharded(model, from, to, rank, own.data()); });
      out.insert(out.end(), own.begin(), own.end());
    }
  }
  out.resize(room);
  cudaMemcpyAsync(c.out[0], out.data(), out.size() * sizeof out[0], cudaMemcpyHostToDevice, c.stream);
  cudaStreamSynchronize(c.stream);
}
