// One update of the weights after another: gradients over `accumulate` batches, their norm, AdamW.
#pragma once
#include <cmath>
#include <vector>

#include "nn/adamw.cuh"
#include "nn/data.hpp"
#include "nn/gpt.cuh"

namespace nn {

// Rises linearly over `warmup` steps, then falls along half a cosine to a tenth at `steps`. step = 0, 1, ...
inline float learning_rate(const TrainConfig& t, int step) {
  if (step < t.warmup) return t.learning_rate * static_cast<float>(step + 1) / static_cast<float>(t.warmup);
  const double done = std::min(1.0, static_cast<double>(step - t.warmup) / std::max(1, t.steps - t.warmup));
  return static_cast<float>(t.learning_rate * (0.1 + 0.9 * 0.5 * (1 + std::cos(std::acos(-1.0) * done))));
}

// Ranks that update a part of the weights each, and need the sums of the gradients of that part only (ZeRO stage 1).
// Parts are of the same sizes on all ranks.
struct OptimizerShards {
  std::vector<Range> own;                    // of the flat buffers, multiples of kDecayPart
  std::function<void(float*, int)> sum;      // adds so many floats on the device over the ranks, in the stream
  std::function<void(std::size_t)> updated;  // own[i] has its new weights, in the stream
  std::function<void()> finish;              // what follows in the stream sees all ranks' new weights
};

template <class T>
class Trainer {
 public:
  Trainer(const ModelConfig& model, const TrainConfig& train, cudaStream_t stream = nullptr)
      : gpt_(model, train, stream) {
    const std::size_t tokens = static_cast<std::size_t>(train.batch) * static_cast<std::size_t>(train.sequence);
    MemoryPlan plan;
    std::vector<unsigned char> decays(gpt_.layout().elements / kDecayPart);  // parameters start at multiples of it
    for (const Parameter& p : gpt_.layout().parameters)
      std::fill_n(decays.begin() + static_cast<std::ptrdiff_t>(p.offset / kDecayPart),
                  (p.size() + kDecayPart - 1) / kDecayPart, p.decay);
    plan.bytes[static_cast<std::size_t>(Use::workspace)] =
        2 * (tokens * sizeof(int) + 256) + 256 + 4 * kNormBlocks + decays.size() + 256;
    arena_ = Arena(plan);
    tokens_ = arena_.take<int>(Use::workspace, tokens);
    targets_ = arena_.take<int>(Use::workspace, tokens);
    numbers_ = arena_.take<float>(Use::workspace, 3);
    norm_scratch_ = arena_.take<float>(Use::workspace, kNormBlocks);
    decays_ = arena_.take<unsigned char>(Use::workspace, decays.size());
    check(cudaMemcpy(decays_, decays.data(), decays.size(), cudaMemcpyHostToDevice), "copying which weights decay");
  }

  struct Result {
    float loss;            // mean over the tokens of the update, in nats
    float gradient_norm;   // before clipping, without the loss scale
    bool skipped = false;  // a gradient was infinite or no number: the weights are as before
  };

  // `next` is called for each batch of the update.
  template <class Next>
  Result step(Next&& next, const GradientsReady& ready = {}) {
    accumulate(next, ready);
    return update();
  }

  // The gradient of the mean loss over all tokens of the update. `ready` is called during the last backward pass only:
  // before, the sums are not complete.
  template <class Next>
  void accumulate(Next&& next, const GradientsReady& ready = {}) {
    const TrainConfig& t = gpt_.train();
    gpt_.clear_gradients();
    check(cudaMemsetAsync(numbers_, 0, 3 * sizeof(float), gpt_.stream()), "clearing the loss");
    const float scale = 1 / static_cast<float>(static_cast<long long>(t.batch) * t.sequence * t.accumulate);
    for (int i = 0; i < t.accumulate; ++i) {
      const Batch& batch = next();  // stays in place: a graph of this copies from there again
      upload(batch.tokens, tokens_);
      upload(batch.targets, targets_);
      gpt_.forward(tokens_, targets_, scale, scale * loss_scale_, numbers_);
      gpt_.backward(tokens_, i + 1 == t.accumulate ? ready : GradientsReady{});
    }
  }

  // `shards`: of this rank, or null: it updates all.
  Result update(const OptimizerShards* shards = nullptr) {
    const TrainConfig& t = gpt_.train();
    const std::vector<Range> own = shards != nullptr ? shards->own : std::vector<Range>{{0, gpt_.layout().elements}};
    int partials = 0;
    for (Range r : own)
      partials += squares(gpt_.gradients() + r.begin, r.end - r.begin, kNormBlocks / static_cast<int>(own.size()),
                          norm_scratch_ + partials, gpt_.stream());
    if (shards != nullptr) shards->sum(norm_scratch_, partials);
    norm_of(norm_scratch_, partials, t.clip, 1 / loss_scale_, numbers_ + 1, gpt_.stream());
    if (t.scale_interval > 0) {
      const Result r = read();  // with a dynamic scale the host must know the norm before it may go on
      if (!std::isfinite(r.gradient_norm)) {
        loss_scale_ /= 2, good_ = 0;
        return {r.loss, r.gradient_norm, true};
      }
      if (++good_ == t.scale_interval) loss_scale_ *= 2, good_ = 0;
    }
    const float rate = learning_rate(t, step_);
    ++step_;
    const AdamWStep s = adamw_step(step_, rate, t.beta1, t.beta2, t.epsilon, t.weight_decay);
    for (std::size_t i = 0; i < own.size(); ++i) {
      const std::size_t at = own[i].begin;
      adamw(gpt_.master() + at, gpt_.weights() + at, gpt_.gradients() + at, gpt_.first_moments() + at,
            gpt_.second_moments() + at, own[i].end - at, s, numbers_ + 2, gpt_.stream(), decays_ + at / kDecayPart);
      if (shards != nullptr) shards->updated(i);
    }
    if (shards != nullptr) shards->finish();
    return read();
  }

  // The mean loss of one batch, without training.
  float evaluate(const Batch& batch) {
    const TrainConfig& t = gpt_.train();
    upload(batch.tokens, tokens_);
    upload(batch.targets, targets_);
    check(cudaMemsetAsync(numbers_, 0, sizeof(float), gpt_.stream()), "clearing the loss");
    gpt_.forward(tokens_, targets_, 1 / static_cast<float>(t.batch * t.sequence), 0, numbers_);
    float loss = 0;
    check(cudaMemcpyAsync(&loss, numbers_, sizeof loss, cudaMemcpyDeviceToHost, gpt_.stream()), "reading the loss");
    check(cudaStreamSynchronize(gpt_.stream()), "an evaluation");
    return loss;
  }

  float loss_scale() const { return loss_scale_; }  // the next update's scale
  Gpt<T>& gpt() { return gpt_; }

 private:
  void upload(const std::vector<int>& from, int* to) {
    const TrainConfig& t = gpt_.train();
    const std::size_t tokens = static_cast<std::size_t>(t.batch) * static_cast<std::size_t>(t.sequence);
    if (from.size() != tokens)
      throw std::invalid_argument("nn: a batch has " + std::to_string(from.size()) +
                                  " tokens instead of B T = " + std::to_string(tokens));
    for (int token : from)
      if (token < 0 || token >= gpt_.model().vocabulary)
        throw std::invalid_argument("nn: token " + std::to_string(token) + " is outside of the vocabulary of " +
                                    std::to_string(gpt_.model().vocabulary));
    check(cudaMemcpyAsync(to, from.data(), tokens * sizeof(int), cudaMemcpyHostToDevice, gpt_.stream()),
          "copying tokens");
  }

  Result read() {
    float read[2];
    check(cudaMemcpyAsync(read, numbers_, sizeof read, cudaMemcpyDeviceToHost, gpt_.stream()), "reading the loss");
    check(cudaStreamSynchronize(gpt_.stream()), "a training step");
    return {read[0], read[1]};
  }

  Gpt<T> gpt_;
  Arena arena_;
  int *tokens_ = nullptr, *targets_ = nullptr;
  float *numbers_ = nullptr, *norm_scratch_ = nullptr;  // numbers: loss, gradient norm, factor of the gradients
  unsigned char* decays_ = nullptr;
  int step_ = 0;
  float loss_scale_ = gpt_.train().loss_scale;
  int good_ = 0;  // updates since the scale changed
};

}  // namespace nn
