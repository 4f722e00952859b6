// What wrong gradients are, for messages: micro-batches are tried in double precision, and a guess is told only where it
// fits all elements.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checks/reference.hpp"

namespace ridge::lab::pipeline_gradients {

using Values = std::vector<double>;

// Whether a rank's gradients are these, which are in the order of the model's buffer.
using Fits = std::function<bool(const Values&)>;

inline std::string list_text(const std::vector<int>& numbers) {
  std::string text = numbers.size() == 1 ? "micro-batch " : "micro-batches ";
  for (std::size_t i = 0; i < numbers.size(); ++i)
    text += (i == 0 ? "" : i + 1 < numbers.size() ? ", " : " and ") + std::to_string(numbers[i]);
  return text;
}

// The micro-batches that are missing in a rank's gradients, where all others are in them; `parts`: those of each.
inline std::vector<int> missing_in(const std::vector<Values>& parts, const Fits& fits) {
  constexpr std::size_t kMost = 8;  // micro-batches
  if (parts.size() > kMost) return {};
  for (unsigned kept = 1; kept + 1 < 1u << parts.size(); ++kept) {
    Values sum(parts.front().size(), 0);
    std::vector<int> missing;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      if ((kept >> k & 1) == 0) {
        missing.push_back(static_cast<int>(k));
        continue;
      }
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += parts[k][i];
    }
    if (fits(sum)) return missing;
  }
  return {};
}

inline std::string missing_text(const std::vector<int>& missing, int rank, int micro_batches) {
  const bool last_in = missing.back() + 1 < micro_batches;
  const char* its = missing.size() == 1 ? "its backward" : "their backwards";
  return fmt::format(
      "; {} {} missing in rank {}'s gradients, and all else is right: {}", list_text(missing),
      missing.size() == 1 ? "is" : "are", rank,
      last_in ? fmt::format("were the gradients cleared after {}?", its)
              : fmt::format("{} left out?", missing.size() == 1 ? "was its backward" : "were their backwards"));
}

// The flow of one micro-batch through the model, cut between the stages: for gradients that arrive at the wrong place.
class Flow {
 public:
  Flow(const nn::ModelConfig& model, const nn::ParameterLayout& layout, const Values& weights,
       std::span<const int> tokens, std::span<const int> targets, int B, int T, double scale)
      : layout_(layout), s_(nn::reference::shape(model, B, T)), w_(nn::views(layout, weights.data())), tokens_(tokens) {
    const std::size_t N = s_.rows(), C = s_.C, V = static_cast<std::size_t>(model.vocabulary);
    Values x(N * C);
    for (std::size_t n = 0; n < N; ++n)
      for (std::size_t c = 0; c < C; ++c)
        x[n * C + c] = w_.wte[static_cast<std::size_t>(tokens[n]) * C + c] + w_.wpe[n % s_.T * C + c];
    tapes_.resize(w_.blocks.size());
    for (std::size_t l = 0; l < tapes_.size(); ++l) {
      inputs_.push_back(x);
      x = nn::reference::block_forward(w_.blocks[l], s_, x, tapes_[l]);
    }
    const auto last = nn::reference::normalize(x, N, C);
    const Values final = nn::reference::layernorm(last, w_.final_gamma, w_.final_beta, N, C);
    Values d = nn::reference::linear(final, w_.head_w, nullptr, N, C, V);
    for (std::size_t n = 0; n < N; ++n) {
      double* row = &d[n * V];
      const double top = *std::max_element(row, row + V);
      double all = 0;
      for (std::size_t v = 0; v < V; ++v) all += std::exp(row[v] - top);
      for (std::size_t v = 0; v < V; ++v)
        row[v] = scale * (std::exp(row[v] - top) / all - (static_cast<int>(v) == targets[n] ? 1 : 0));
    }
    Values unused(layout.elements, 0);
    const auto g = nn::views(layout, unused.data());
    const Values inner = nn::reference::linear_backward(d, final, w_.head_w, g.head_w, nullptr, N, C, V);
    d.assign(N * C, 0);
    nn::reference::layernorm_backward(inner, last, w_.final_gamma, g.final_gamma, g.final_beta, d, N, C);
    gradients_.resize(tapes_.size());
    for (std::size_t l = tapes_.size(); l-- > 0;) {
      nn::reference::block_backward(w_.blocks[l], g.blocks[l], s_, tapes_[l], d);
      gradients_[l] = d;
    }
  }
  const Values& input(std::size_t block) const { return inputs_[block]; }        // (B, T, C)
  const Values& gradient(std::size_t block) const { return gradients_[block]; }  // of its input
  // Adds the gradients of the weights below `block`, where `d` arrives as the gradient of that block's input.
  void below(std::size_t block, Values d, Values& out) const {
    const auto g = nn::views(layout_, out.data());
    for (std::size_t l = block; l-- > 0;) nn::reference::block_backward(w_.blocks[l], g.blocks[l], s_, tapes_[l], d);
    for (std::size_t n = 0; n < s_.rows(); ++n)
      for (std::size_t c = 0; c < s_.C; ++c)
        g.wte[static_cast<std::size_t>(tokens_[n]) * s_.C + c] += d[n * s_.C + c],
            g.wpe[n % s_.T * s_.C + c] += d[n * s_.C + c];
  }

 private:
  const nn::ParameterLayout& layout_;
  nn::reference::Shape s_;
  nn::ModelTensors<const double*> w_;
  std::span<const int> tokens_;
  std::vector<nn::reference::Tape> tapes_;
  std::vector<Values> inputs_, gradients_;
};

// What the last rank with wrong gradients took for those that its neighbour sends; `block`: the neighbour's first one.
inline std::string arrived_text(const std::vector<Flow>& flows, std::size_t block, std::size_t elements, int rank,
                                const Fits& fits) {
  const std::size_t m = flows.size();
  const std::string right = fmt::format("; rank {}'s gradients are right. ", rank + 1);
  auto tried = [&](auto arrives) {
    Values sum(elements, 0);
    for (std::size_t j = 0; j < m; ++j) flows[j].below(block, arrives(j), sum);
    return fits(sum);
  };
  if (tried([&](std::size_t j) { return flows[j].input(block); }))
    return right + fmt::format("What rank {} takes for the gradient that it receives is the input of rank {}'s stage",
                               rank, rank + 1);
  const std::pair<const char*, std::function<std::size_t(std::size_t)>> orders[] = {
      {"in the opposite order", [m](std::size_t j) { return m - 1 - j; }},
      {"one too late", [m](std::size_t j) { return (j + m - 1) % m; }},
      {"one too early", [m](std::size_t j) { return (j + 1) % m; }}};
  for (const auto& [how, of] : orders)
    if (m > 1 && tried([&, &from = of](std::size_t j) { return flows[from(j)].gradient(block); }))
      return right + fmt::format(
                         "{}: in its backward of micro-batch 0 rank {} uses the gradient of micro-batch {}. Do both "
                         "ranks take the micro-batches in the same order?",
                         &how == &orders[0].first
                             ? fmt::format("Ranks {} and {} take the gradients in opposite orders", rank, rank + 1)
                             : fmt::format("Rank {} takes the gradients {}", rank, how),
                         rank, of(0));
  return right + fmt::format("What rank {} receives from it, or does with that, is wrong", rank);
}

}  // namespace ridge::lab::pipeline_gradients
