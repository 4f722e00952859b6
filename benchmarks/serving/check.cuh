// Holds answers against runtime/nn's GPT: one forward pass over a prompt and its answer, without a cache, in which the
// attention is unfused. It owns the weights.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "nn/gpt.cuh"

namespace serving {

// Two ways to compute the same in bf16 differ in the last bits, so the largest logit may change places with one that is as
// large but for rounding. Wrong keys or values give other tokens altogether: the largest of thousands of logits is several
// standard deviations above any one of them.
constexpr double kTie = 0.1;  // standard deviations of a position's logits

struct Agreement {
  int requests = 0, tokens = 0, equal = 0, ties = 0, evicted = 0;
  long long shared = 0;
  double worst = 0;  // of all tokens: how far below the largest logit, in standard deviations

  std::string json() const {
    if (requests == 0) return "null";
    return "{\"requests\": " + std::to_string(requests) + ", \"tokens\": " + std::to_string(tokens) +
           ", \"equal\": " + std::to_string(equal) + ", \"ties\": " + std::to_string(ties) +
           ", \"worst_deviations\": " + std::to_string(worst) + ", \"evicted\": " + std::to_string(evicted) +
           ", \"shared_tokens\": " + std::to_string(shared) + "}";
  }
  // Throws where a token is neither the largest nor a tie, or where more than one in four is a tie.
  void require() const {
    if (tokens == 0 || equal + ties < tokens || 4 * ties > tokens)
      throw std::runtime_error("the answers are not those of a forward pass without a cache: " + json());
  }
};

// x: (n) times `by`.
__global__ void scale_kernel(__nv_bfloat16* x, std::size_t n, float by) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) x[i] = __float2bfloat16(nn::to_float(x[i]) * by);
}

class Reference {
 public:
  Reference(const nn::ModelConfig& model, std::uint64_t seed, cudaStream_t stream)
      : model_(model), gpt_(model, train(model, seed), stream), stream_(stream) {
    // Initial weights hardly change what the embedding says, so the answer would be the last token again and again. Three
    // times as large, the blocks decide, and a wrong key or value shows.
    for (const nn::Parameter& p : layout().parameters)
      if (p.rows > 1 && p.name.rfind("block", 0) == 0) {
        scale_kernel<<<nn::blocks_for(p.size(), 256), 256, 0, stream>>>(gpt_.weights() + p.offset, p.size(), 3.0f);
        nn::check_launch("scale_kernel");
      }
    const std::size_t context = static_cast<std::size_t>(model.context);
    nn::check(cudaMalloc(&tokens_, 2 * context * sizeof(int)), "tokens of the reference");
    nn::check(cudaMalloc(&loss_, sizeof(float)), "the loss of the reference");
    nn::check(cudaMemsetAsync(loss_, 0, sizeof(float), stream), "the loss of the reference");
  }
  ~Reference() { cudaFree(tokens_), cudaFree(loss_); }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  const nn::ParameterLayout& layout() const { return gpt_.layout(); }
  const __nv_bfloat16* weights() { return gpt_.weights(); }

  // tokens: a prompt of `prompt` tokens, and its answer.
  void compare(const std::vector<int>& tokens, int prompt, Agreement& sum) {
    const int context = model_.context, Vp = model_.padded_vocabulary(), V = model_.vocabulary;
    std::vector<int> padded(static_cast<std::size_t>(2 * context));  // and targets, which do not matter
    std::copy(tokens.begin(), tokens.end(), padded.begin());
    nn::check(cudaMemcpyAsync(tokens_, padded.data(), padded.size() * sizeof(int), cudaMemcpyHostToDevice, stream_),
              "tokens");
    gpt_.forward(tokens_, tokens_ + context, 0, 0, loss_);
    const std::size_t answer = tokens.size() - static_cast<std::size_t>(prompt);
    std::vector<std::uint16_t> logits(answer * static_cast<std::size_t>(Vp));
    nn::check(cudaMemcpyAsync(logits.data(), gpt_.logits() + static_cast<std::size_t>(prompt - 1) * Vp,
                              logits.size() * sizeof(std::uint16_t), cudaMemcpyDeviceToHost, stream_),
              "logits");
    nn::check(cudaStreamSynchronize(stream_), "the reference");
    ++sum.requests;
    for (std::size_t i = 0; i < answer; ++i) {
      const auto at = [&](int column) {
        const std::uint32_t bits =
            static_cast<std::uint32_t>(logits[i * static_cast<std::size_t>(Vp) + static_cast<std::size_t>(column)])
            << 16;
        float value;
        std::memcpy(&value, &bits, sizeof value);
        return static_cast<double>(value);
      };
      int largest = 0;
      double mean = 0, squares = 0;
      for (int c = 0; c < V; ++c) {
        if (at(c) > at(largest)) largest = c;
        mean += at(c), squares += at(c) * at(c);
      }
      mean /= V;
      const double deviation = std::sqrt(std::max(squares / V - mean * mean, 1e-12));
      const int token = tokens[static_cast<std::size_t>(prompt) + i];
      const double below = (at(largest) - at(token)) / deviation;
      ++sum.tokens;
      if (token == largest)
        ++sum.equal;
      else if (below <= kTie)
        ++sum.ties;
      sum.worst = std::max(sum.worst, below);
    }
  }

 private:
  static nn::TrainConfig train(const nn::ModelConfig& model, std::uint64_t seed) {
    nn::TrainConfig t;
    t.batch = 1, t.sequence = model.context, t.seed = seed;
    return t;
  }

  nn::ModelConfig model_;
  nn::Gpt<__nv_bfloat16> gpt_;
  cudaStream_t stream_;
  int* tokens_ = nullptr;
  float* loss_ = nullptr;
};

}  // namespace serving
