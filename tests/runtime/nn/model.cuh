// The whole model: gradients against differences of a double-precision reference, what options must not change, and that it learns.
#pragma once
#include <cstring>

#include "nn/trainer.cuh"
#include "reference.hpp"

namespace model {

const int B = 2, T = 7;

nn::ModelConfig odd_model(bool tied) { return {61, 9, 2, 3, 36, tied}; }

nn::Batch odd_batch(int b, std::uint64_t seed) {
  return {random_tokens(static_cast<std::size_t>(b) * T, 61, seed),
          random_tokens(static_cast<std::size_t>(b) * T, 61, seed + 1)};
}

// Weights as in the middle of training: no bias is 0, no gamma is 1.
Values scramble(nn::Gpt<float>& gpt) {
  Values flat(gpt.layout().elements, 0);
  for (const nn::Parameter& p : gpt.layout().parameters) {
    const Values noise = random_values(p.size(), p.offset + 5, 0.3);
    for (std::size_t i = 0; i < p.size(); ++i) flat[p.offset + i] = static_cast<float>(p.mean + noise[i]);
  }
  const std::vector<float> narrow(flat.begin(), flat.end());
  cudaMemcpy(gpt.master(), narrow.data(), narrow.size() * sizeof(float), cudaMemcpyHostToDevice);
  return flat;
}

// A few elements of every tensor; gradients of all of them would take the reference minutes.
void test_gradients(bool tied) {
  nn::TrainConfig train;
  train.batch = B, train.sequence = T;
  nn::Trainer<float> trainer(odd_model(tied), train);
  nn::Gpt<float>& gpt = trainer.gpt();
  Values flat = scramble(gpt);
  const nn::Batch batch = odd_batch(B, 90);
  auto loss = [&] { return reference::loss(gpt.model(), gpt.layout(), flat, batch.tokens, batch.targets, B, T); };
  close("loss", {trainer.evaluate(batch)}, {loss()}, 1e-6);
  trainer.accumulate([&] { return batch; });
  const Values gradient = host(gpt.gradients(), gpt.layout().elements);
  nn::Random random(91);
  for (const nn::Parameter& p : gpt.layout().parameters) {
    double largest = 0;
    for (std::size_t i = p.offset; i < p.offset + p.size(); ++i) largest = std::max(largest, std::abs(gradient[i]));
    expect(largest > 1e-5, p.name + " has a gradient");
    for (int k = 0; k < 2; ++k) {
      // Of the embeddings: rows that occur. Any row else has the gradient 0 here and there (but in a tied head).
      std::size_t at = p.offset + random.below(p.size());
      if (p.name == "wte") at = p.offset + static_cast<std::size_t>(batch.tokens[3] * 36 + 7 * k);
      if (p.name == "wpe") at = p.offset + static_cast<std::size_t>(5 * 36 + 7 * k);
      if (p.name == "head_w") at = p.offset + static_cast<std::size_t>(batch.targets[3] * 36 + 7 * k);
      const double before = flat[at], h = 1e-4;
      flat[at] = before + h;
      const double above = loss();
      flat[at] = before - h;
      const double wanted = (above - loss()) / (2 * h);
      flat[at] = before;
      expect(std::abs(gradient[at] - wanted) <= 2e-5 * largest,
             p.name + "[" + std::to_string(at - p.offset) + "]: gradient " + std::to_string(gradient[at]) +
                 " instead of " + std::to_string(wanted) + ", largest " + std::to_string(largest));
    }
  }
}

struct Run {
  Values gradient;
  double loss;
  std::vector<nn::Range> ready;
  nn::MemoryPlan memory;
};

// Four sequences, in `accumulate` passes; the weights after two updates.
Run train_odd(int accumulate, bool checkpoint, bool tied) {
  nn::TrainConfig train;
  train.batch = 4 / accumulate, train.sequence = T, train.accumulate = accumulate, train.checkpoint = checkpoint;
  nn::Trainer<float> trainer(odd_model(tied), train);
  scramble(trainer.gpt());
  const nn::Batch all = odd_batch(4, 95);
  int pass = 0;
  auto next = [&] {
    const auto of = [&](const std::vector<int>& v) {
      const int at = pass % accumulate * train.batch * T;
      return std::vector<int>(v.begin() + at, v.begin() + at + train.batch * T);
    };
    const nn::Batch batch{of(all.tokens), of(all.targets)};
    ++pass;
    return batch;
  };
  Run run;
  trainer.accumulate(next, [&](nn::Range r) {
    expect(pass == accumulate, "gradients are ready in the last pass only");
    run.ready.push_back(r);
  });
  run.gradient = host(trainer.gpt().gradients(), trainer.gpt().layout().elements);
  run.loss = trainer.update().loss;
  run.memory = trainer.gpt().memory();
  const nn::MemoryPlan planned = nn::Gpt<float>::plan(odd_model(tied), train);
  expect(planned.bytes == run.memory.bytes, "the plan is what is taken");
  return run;
}

void test_options() {
  for (bool tied : {true, false}) {
    const Run plain = train_odd(1, false, tied), checkpointed = train_odd(1, true, tied),
              accumulated = train_odd(4, false, tied), both = train_odd(2, true, tied);
    close("checkpointing: the same bits", checkpointed.gradient, plain.gradient, 0);
    close("accumulated gradients", accumulated.gradient, plain.gradient, 2e-6);
    close("both", both.gradient, plain.gradient, 2e-6);
    close("accumulated loss", {accumulated.loss}, {plain.loss}, 1e-6);
    // One block's activations instead of two.
    const std::size_t saved = plain.memory[nn::Use::activations] - checkpointed.memory[nn::Use::activations];
    const std::size_t N = 4 * T, C = 36, floats = N * (C + 3 * C + C + C + C + 4 * C + 4 * C + 4) + 4 * 3 * T * T;
    expect(saved >= floats * 4 && saved < floats * 4 + 12 * 256, "bytes saved by checkpointing");
    std::size_t end = 0;
    for (nn::Range r : plain.ready) {
      expect(r.begin == end && r.end > r.begin, "gradients get ready in the order of the buffer");
      end = r.end;
    }
    expect(end == plain.gradient.size() && plain.ready.size() == 4, "all gradients get ready");
  }
  // What a block, a model and an optimizer take, for the shapes that go by name.
  expect(nn::parameter_layout(nn::model_config("gpt2-124m")).count == 124439808, "GPT-2 has 124439808 parameters");
  const auto count = nn::parameter_layout(nn::model_config("gpt-1.3b")).count;
  expect(count > 1300000000 && count < 1330000000, "1.3B parameters");
  const auto plan = nn::Gpt<__nv_bfloat16>::plan(nn::model_config("gpt2-124m"), {8, 1024});
  expect(plan[nn::Use::optimizer] == 2 * plan[nn::Use::gradients], "two moments");
  expect(2 * plan[nn::Use::weights] == 3 * plan[nn::Use::gradients], "fp32 and bf16 weights");
  bool refused = false;
  try {
    nn::Gpt<float>::plan({61, 9, 2, 5, 36, true}, {});
  } catch (const std::invalid_argument& e) {
    refused = std::strstr(e.what(), "multiple of heads") != nullptr;
  }
  expect(refused, "36 channels in 5 heads are refused");
  // Memory that is given: piece by piece, to its end.
  char memory[512];
  nn::Arena given(memory, sizeof memory);
  expect(given.take<float>(nn::Use::weights, 3) == reinterpret_cast<float*>(memory), "the first piece");
  expect(given.take<char>(nn::Use::workspace, 256) == memory + 256, "the second one, behind it");
  refused = false;
  try {
    given.take<char>(nn::Use::weights, 1);
  } catch (const std::logic_error&) {
    refused = true;
  }
  expect(refused, "what is given is not exceeded");
}

// Training falls well below the entropy of single tokens (order 1), and with order 2 below that of pairs, which takes attention.
void test_learns(int order) {
  nn::TrainConfig train;
  train.batch = 8, train.sequence = 16, train.steps = order == 1 ? 50 : 700,
  train.learning_rate = order == 1 ? 1e-2f : 5e-3f;
  const nn::ModelConfig model{order == 1 ? 16 : 8, 16, order, 2, 32, true};
  const nn::MarkovSource source(model.vocabulary, order, 3);
  auto run = [&](int steps) {
    nn::Trainer<float> trainer(model, train);
    nn::Random random(4);
    double last = 0;
    std::vector<float> losses;
    for (int s = 0; s < steps; ++s) {
      losses.push_back(trainer.step([&] { return source.sample(train.batch, train.sequence, random); }).loss);
      if (s >= steps - 20) last += losses.back() / 20.0;
    }
    return std::make_pair(losses, last);
  };
  const auto [losses, last] = run(train.steps);
  const double unigram = source.unigram_entropy(), bigram = source.bigram_entropy(), rate = source.entropy_rate();
  std::printf("unigram %.3f bigram %.3f rate %.3f, first loss %.3f, last 20: %.3f\n", unigram, bigram, rate,
              static_cast<double>(losses[0]), last);
  expect(std::abs(losses[0] - std::log(model.vocabulary)) < 0.15, "the first loss is log V");
  const double from = order == 1 ? unigram : bigram;
  expect(from - rate > 0.4, "the source leaves something to learn");
  expect(last < (from + rate) / 2, "it learns");
  expect(last > rate - 0.1, "no loss is below the entropy rate");
  const auto again = run(5).first;
  expect(std::equal(again.begin(), again.end(), losses.begin()), "a seed gives the same losses, bit for bit");
}

}  // namespace model
