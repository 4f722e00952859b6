// What one rank of a data-parallel training run has in its memory: a small GPT of runtime/nn, its moments, and a step count.
#pragma once
#include <cstring>
#include <string>
#include <vector>

#include "nn/adamw.cuh"
#include "nn/data.hpp"
#include "nn/gpt.cuh"

class GptRank {
 public:
  static constexpr int kTokens = 8;  // of a micro-batch
  long long step = 0;                // steps that were made

  explicit GptRank(int micro_batches) : micro_batches_(micro_batches) {
    nn::check(cudaMalloc(&tokens_, kTokens * sizeof(int)), "tokens");
    nn::check(cudaMalloc(&targets_, kTokens * sizeof(int)), "targets");
    nn::check(cudaMalloc(&loss_, sizeof(float)), "the loss");
  }
  ~GptRank() { cudaFree(tokens_), cudaFree(targets_), cudaFree(loss_); }
  GptRank(const GptRank&) = delete;
  GptRank& operator=(const GptRank&) = delete;

  static nn::ModelConfig model() {
    nn::ModelConfig m;
    m.vocabulary = 19, m.context = kTokens, m.layers = 2, m.heads = 2, m.channels = 16;
    return m;
  }
  static nn::MarkovSource source() { return nn::MarkovSource(model().vocabulary, 1, 7); }
  std::size_t elements() const { return gpt_.layout().elements; }

  // Leaves the gradient of micro-batch b, a share of the step's mean, on the device, where it is valid until the next call,
  // and adds its share of the loss to *loss. Tokens follow from step and b: who makes it makes no difference.
  const float* gradient(const nn::MarkovSource& source, int b, float* loss) {
    nn::Random random(static_cast<std::uint64_t>(1000 + step * micro_batches_ + b));
    const nn::Batch batch = source.sample(1, kTokens, random);
    upload(tokens_, batch.tokens.data(), kTokens * sizeof(int));
    upload(targets_, batch.targets.data(), kTokens * sizeof(int));
    gpt_.clear_gradients();
    nn::check(cudaMemset(loss_, 0, sizeof(float)), "the loss");
    const float scale = 1.0f / static_cast<float>(kTokens * micro_batches_);
    gpt_.forward(tokens_, targets_, scale, scale, loss_);
    gpt_.backward(tokens_);
    float mine = 0;
    read_back(&mine, loss_, sizeof mine);
    *loss += mine;
    return gpt_.gradients();
  }
  // One step of AdamW with this gradient (device or host).
  void update(const float* sum) {
    nn::check(cudaMemcpy(gpt_.gradients(), sum, elements() * 4, cudaMemcpyDefault), "the gradient");
    ++step;
    nn::adamw(gpt_.master(), gpt_.weights(), gpt_.gradients(), gpt_.first_moments(), gpt_.second_moments(), elements(),
              nn::adamw_step(static_cast<int>(step), 3e-3f, 0.9f, 0.95f, 1e-8f, 0.1f), nullptr, nullptr);
    nn::check(cudaDeviceSynchronize(), "an update");
  }
  // Step, weights and moments.
  std::string state() {
    const std::size_t n = elements() * 4;
    std::string s(8 + 3 * n, '\0');
    std::memcpy(s.data(), &step, 8);
    read_back(s.data() + 8, gpt_.master(), n);
    read_back(s.data() + 8 + n, gpt_.first_moments(), n);
    read_back(s.data() + 8 + 2 * n, gpt_.second_moments(), n);
    return s;
  }
  void restore(const std::string& s) {
    const std::size_t n = elements() * 4;
    std::memcpy(&step, s.data(), 8);
    upload(gpt_.master(), s.data() + 8, n);
    upload(gpt_.first_moments(), s.data() + 8 + n, n);
    upload(gpt_.second_moments(), s.data() + 8 + 2 * n, n);
  }

 private:
  static nn::TrainConfig training() {
    nn::TrainConfig t;
    t.batch = 1, t.sequence = kTokens;
    return t;
  }
  static void read_back(void* to, const void* from, std::size_t bytes) {
    nn::check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "reading back");
  }
  static void upload(void* to, const void* from, std::size_t bytes) {
    nn::check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "uploading");
  }

  int micro_batches_;
  nn::Gpt<float> gpt_{model(), training(), nullptr};
  int *tokens_ = nullptr, *targets_ = nullptr;
  float* loss_ = nullptr;
};
