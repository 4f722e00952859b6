// Mistakes that several tasks of lab 09 invite, as answers.
#pragma once
#include "common.hpp"

namespace ridge::lab::tensor_parallel {

// y, where a bias of one number a column is missing, or every rank has added it.
inline std::vector<Guess> guesses_of_bias(const Elements& y, const std::vector<double>& bias, const std::string& name,
                                          int ranks, int rank) {
  const Size C = bias.size();
  std::vector<Guess> all = {{fmt::format("rank {}'s y is right, but for the bias {}, which is missing", rank, name),
                             y.changed([&](Size i, double value) { return value - bias[i % C]; })}};
  if (ranks > 1)
    all.push_back(
        {fmt::format("the bias {} is in y {} times: each rank has added it to its part of the sum", name, ranks),
         y.changed([&](Size i, double value) { return value + (ranks - 1) * bias[i % C]; })});
  return all;
}

// A sum over the ranks that has one rank's part alone. parts: (N, C), or other indices of `sum`.
inline Guess guess_of_part(const Elements& sum, const std::vector<double>& part, const std::string& of,
                           const std::string& name, int rank) {
  return {
      fmt::format("rank {}'s {} is the part of its own {} alone: the sum over the ranks is missing", rank, name, of),
      sum.changed([&](Size i, double) { return part[i]; })};
}

// A gradient that is `ranks` times what it should be. `doubt`: a question.
inline std::vector<Guess> guesses_of_sum(const Elements& gradient, int ranks, const std::string& doubt) {
  if (ranks == 1) return {};
  return {{fmt::format("{} is also the number of ranks: {}", ranks, doubt),
           gradient.changed([&](Size, double right) { return ranks * right; })}};
}

}  // namespace ridge::lab::tensor_parallel
