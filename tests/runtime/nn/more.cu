// What takes longer: shorter types, and a block in two shards.
// Usage: more types | learns | shards
#include <barrier>
#include <thread>

#include "nn/trainer.cuh"
#include "reference.hpp"

namespace {

const int B = 2, T = 7;

// Gradients of a model whose activations are T against differences of the double-precision one with the same (rounded)
// weights; and a small loss scale's worth of fp16.
template <class Type>
void test_type(const std::string& name, double tolerance, float loss_scale, bool fused = false) {
  nn::TrainConfig train;
  train.batch = B, train.sequence = T, train.fused = fused;
  const int C = fused ? 48 : 36;  // fused attention's smallest heads have 16
  nn::Gpt<Type> gpt({61, 9, 2, 3, C, true}, train, nullptr);
  Values flat(gpt.layout().elements, 0);
  for (const nn::Parameter& p : gpt.layout().parameters) {
    const Values noise = random_values(p.size(), p.offset + 5, 0.3);
    for (std::size_t i = 0; i < p.size(); ++i) flat[p.offset + i] = p.mean + noise[i];
  }
  std::vector<Type> rounded;
  for (double& v : flat) {
    rounded.push_back(Type(static_cast<float>(v)));
    v = static_cast<double>(static_cast<float>(rounded.back()));
  }
  cudaMemcpy(gpt.weights(), rounded.data(), rounded.size() * sizeof(Type), cudaMemcpyHostToDevice);
  const std::vector<int> tokens = random_tokens(B * T, 61, 90), targets = random_tokens(B * T, 61, 91);
  auto loss = [&] { return reference::loss(gpt.model(), gpt.layout(), flat, tokens, targets, B, T); };
  float* total = zeros(1);
  const int* d_tokens = device(tokens);
  gpt.forward(d_tokens, device(targets), 1.0f / (B * T), 1.0f / (B * T), total, device(Values{loss_scale}));
  close(name + ": loss", host(total, 1), {loss()}, tolerance / 5);
  gpt.backward(d_tokens);
  const Values gradient = host(gpt.gradients(), gpt.layout().elements);
  nn::Random random(92);
  double worst = 0;
  for (const nn::Parameter& p : gpt.layout().parameters) {
    double largest = 0;
    for (std::size_t i = p.offset; i < p.offset + p.size(); ++i) largest = std::max(largest, std::abs(gradient[i]));
    for (int k = 0; k < 2; ++k) {
      const std::size_t at = p.name == "wte" ? p.offset + static_cast<std::size_t>(tokens[3] * C + 7 * k)
                                             : p.offset + random.below(p.size());
      const double before = flat[at], h = 1e-4;
      flat[at] = before + h;
      const double above = loss();
      flat[at] = before - h;
      const double wanted = (above - loss()) / (2 * h) * static_cast<double>(loss_scale);
      flat[at] = before;
      worst = std::max(worst, std::abs(gradient[at] - wanted) / largest);
      expect(std::abs(gradient[at] - wanted) <= tolerance * largest,
             name + " " + p.name + ": gradient " + std::to_string(gradient[at]) + " instead of " +
                 std::to_string(wanted) + ", largest " + std::to_string(largest));
    }
  }
  std::printf("%s: worst gradient off by %.4f of its tensor's largest\n", name.c_str(), worst);
}

// Fused attention keeps a number for each row of P in place of the row, and is not for fp32.
void test_fused_memory() {
  nn::TrainConfig train;
  train.batch = 8, train.sequence = 1024;
  const nn::ModelConfig model = nn::model_config("gpt2-124m");
  const auto plain = nn::Gpt<__nv_bfloat16>::plan(model, train);
  train.fused = true;
  const auto fused = nn::Gpt<__nv_bfloat16>::plan(model, train);
  const std::size_t rows = 8 * 12 * 1024;
  expect(plain[nn::Use::activations] - fused[nn::Use::activations] == 12 * rows * (2 * 1024 - 4), "rows of P");
  for (int wrong : {0, 1}) {
    bool refused = false;
    try {
      if (wrong == 0) nn::Gpt<float>::plan(model, train);
      if (wrong == 1) nn::Gpt<__half>::plan({61, 9, 2, 3, 36, true}, {2, 7, 1, false, true});
    } catch (const std::invalid_argument&) {
      refused = true;
    }
    expect(refused, wrong == 0 ? "fp32 is refused" : "heads of 12 channels are refused");
  }
}

// fp32 and bf16 from the same start: equal losses within bf16's precision, and both learn.
void test_learns_bf16() {
  nn::TrainConfig train;
  train.batch = 8, train.sequence = 16, train.steps = 60, train.learning_rate = 1e-2f;
  const nn::ModelConfig model{16, 16, 1, 2, 32, true};
  const nn::MarkovSource source(16, 1, 3);
  auto run = [&](auto type) {
    nn::Trainer<decltype(type)> trainer(model, train);
    nn::Random random(4);
    std::vector<double> losses;
    for (int s = 0; s < train.steps; ++s)
      losses.push_back(trainer.step([&] { return source.sample(train.batch, train.sequence, random); }).loss);
    return losses;
  };
  const auto full = run(float()), half = run(__nv_bfloat16());
  double difference = 0;
  for (std::size_t i = 0; i < full.size(); ++i) difference = std::max(difference, std::abs(full[i] - half[i]));
  std::printf("fp32 %.4f, bf16 %.4f, largest difference of a step %.4f; rate %.4f\n", full.back(), half.back(),
              difference, source.entropy_rate());
  expect(difference < 0.05, "bf16 follows fp32");
  expect(half.back() < 0.5 * (source.unigram_entropy() + source.entropy_rate()), "bf16 learns");
}

// fp16 whose loss scale is found while it trains: too large at the start, so updates are left out, then as fp32 with as many fewer.
void test_loss_scale() {
  nn::TrainConfig train;
  train.batch = 8, train.sequence = 16, train.steps = 60, train.learning_rate = 1e-2f;
  const nn::ModelConfig model{16, 16, 1, 2, 32, true};
  const nn::MarkovSource source(16, 1, 3);
  nn::Random random(4);
  auto next = [&] { return source.sample(train.batch, train.sequence, random); };
  train.loss_scale = 0x1p30f, train.scale_interval = 8;
  nn::Trainer<__half> trainer(model, train);
  const Values before = host(trainer.gpt().master(), trainer.gpt().layout().elements);
  int skipped = 0;
  while (trainer.step(next).skipped) {
    ++skipped;
    expect(trainer.loss_scale() == std::ldexp(0x1p30f, -skipped), "an overflow halves the scale");
    expect(host(trainer.gpt().master(), before.size()) == before, "an update that overflows changes nothing");
    expect(skipped < 30, "the scale gets small enough");
  }
  expect(skipped > 3, "a scale of 2^30 overflows");
  const float found = trainer.loss_scale();
  double last = 0;
  int doubled = 0;
  for (int s = 1; s < train.steps; ++s) {
    const float scale = trainer.loss_scale();
    const auto r = trainer.step(next);
    last = r.loss, doubled += trainer.loss_scale() == 2 * scale ? 1 : 0;
    expect(r.skipped || std::isfinite(r.loss), "a loss is a number");
  }
  std::printf("fp16: %d left out, scale %g, doubled %d times, loss %.4f\n", skipped, static_cast<double>(found),
              doubled, last);
  expect(doubled > 1, "the scale grows again");
  expect(last < 0.5 * (source.unigram_entropy() + source.entropy_rate()), "fp16 learns");
}

// Two ranks that update a half of each range of the weights: together the weights that one makes of the same gradients.
void test_optimizer_shards() {
  nn::TrainConfig train;
  train.batch = B, train.sequence = T, train.clip = 0;  // the norm is added in another order, and changes nothing
  const nn::ModelConfig model{61, 9, 2, 4, 128, true};
  const nn::MarkovSource source(61, 1, 3);
  struct Updated {
    Values master, copy, m, v;
    float norm;
  };
  auto update = [&](const std::function<nn::OptimizerShards(nn::Trainer<__nv_bfloat16>&)>& shards) {
    nn::Trainer<__nv_bfloat16> trainer(model, train);
    nn::Random random(4);
    const nn::Batch batch = source.sample(B, T, random);
    trainer.accumulate([&]() -> const nn::Batch& { return batch; });
    const std::size_t n = trainer.gpt().layout().elements;
    nn::OptimizerShards own;
    if (shards) own = shards(trainer);
    const float norm = trainer.update(shards ? &own : nullptr).gradient_norm;
    return Updated{host(trainer.gpt().master(), n), host(trainer.gpt().weights(), n),
                   host(trainer.gpt().first_moments(), n), host(trainer.gpt().second_moments(), n), norm};
  };
  const Updated whole = update({});
  const std::size_t n = whole.master.size(), cut = 2 * nn::kDecayPart * 100;
  std::vector<int> updates(n);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    std::vector<std::size_t> order;
    const Updated half = update([&](nn::Trainer<__nv_bfloat16>& trainer) {
      nn::OptimizerShards s;
      for (const auto& [begin, end] : {nn::Range{0, cut}, nn::Range{cut, n}}) {
        const std::size_t count = (end - begin) / 2;
        s.own.push_back({begin + rank * count, begin + (rank + 1) * count});
      }
      s.sum = [&trainer, n, own = s.own](float* partial, int count) {
        const Values gradient = host(trainer.gpt().gradients(), n), mine = host(partial, count);
        double other = 0, sum = 0;
        for (std::size_t i = 0; i < n; ++i)
          if (std::none_of(own.begin(), own.end(), [&](nn::Range r) { return i >= r.begin && i < r.end; }))
            other += gradient[i] * gradient[i];
        for (double p : mine) sum += p;
        const auto all = static_cast<float>(sum + other);
        cudaMemset(partial, 0, static_cast<std::size_t>(count) * sizeof(float));
        cudaMemcpy(partial, &all, sizeof all, cudaMemcpyHostToDevice);
      };
      s.updated = [&](std::size_t i) { order.push_back(i); };
      s.finish = [&] { order.push_back(99); };
      for (nn::Range r : s.own)
        for (std::size_t i = r.begin; i < r.end; ++i) ++updates[i];
      return s;
    });
    expect(order == std::vector<std::size_t>{0, 1, 99}, "each part is told of once, then the end");
    expect(std::abs(half.norm - whole.norm) < 1e-5 * whole.norm, "the norm is of all gradients");
    std::size_t equal = 0, own = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const bool mine = i < cut ? i / (cut / 2) == rank : (i - cut) / ((n - cut) / 2) == rank;
      own += mine;
      equal += mine && half.master[i] == whole.master[i] && half.copy[i] == whole.copy[i] && half.m[i] == whole.m[i] &&
               half.v[i] == whole.v[i];
    }
    expect(own == n / 2 && equal == own, "a rank's part is as one rank makes it");
  }
  expect(std::all_of(updates.begin(), updates.end(), [](int u) { return u == 1; }), "each weight has one rank");
}

// What one rank holds of a matrix: rows [r0, r0 + rows) and columns [c0, c0 + cols) of `from`, which has `width` columns.
Values part(const Values& from, int width, int r0, int rows, int c0, int cols) {
  Values out;
  for (int r = r0; r < r0 + rows; ++r)
    for (int c = c0; c < c0 + cols; ++c) out.push_back(from[r * width + c]);
  return out;
}

// A block whose heads and hidden units are shared between two ranks (threads) computes what the whole one does.
void test_shards() {
  const int C = 24, H = 4, F = 4 * C, N = B * T, ranks = 2;
  const Values x = random_values(N * C, 1), dy = random_values(N * C, 2);
  const Values ln_gamma = random_values(C, 3), ln_beta = random_values(C, 4), qkv_w = random_values(3 * C * C, 5, 0.3),
               qkv_b = random_values(3 * C, 6), proj_w = random_values(C * C, 7, 0.3), proj_b = random_values(C, 8),
               fc_w = random_values(F * C, 9, 0.3), fc_b = random_values(F, 10), fc2_w = random_values(C * F, 11, 0.3),
               fc2_b = random_values(C, 12);
  struct Result {
    Values out, dx, qkv_w, fc2_w, ln1_gamma;
  };
  // One rank of `of`; `sum` as in Context.
  auto compute = [&](int rank, int of, std::function<void(float*, std::size_t)> sum) {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    const nn::Gemm gemm(stream);
    const int A = C / of, f = F / of;
    const nn::BlockShape shape{B, T, C, H / of, C / H, f};
    Values q, qb;
    for (int which = 0; which < 3; ++which) {  // q, k, v: this rank's heads of each
      for (double v : part(qkv_w, C, which * C + rank * A, A, 0, C)) q.push_back(v);
      for (double v : part(qkv_b, 1, which * C + rank * A, A, 0, 1)) qb.push_back(v);
    }
    const nn::BlockWeights<float> w{device(ln_gamma),
                                    device(ln_beta),
                                    device(q),
                                    device(qb),
                                    device(part(proj_w, C, 0, C, rank * A, A)),
                                    device(proj_b),
                                    device(ln_gamma),
                                    device(ln_beta),
                                    device(part(fc_w, C, rank * f, f, 0, C)),
                                    device(part(fc_b, 1, rank * f, f, 0, 1)),
                                    device(part(fc2_w, F, 0, C, rank * f, f)),
                                    device(fc2_b)};
    const nn::BlockGradients g{zeros(C), zeros(C), zeros(3 * A * C), zeros(3 * A), zeros(C * A), zeros(C),
                               zeros(C), zeros(C), zeros(f * C),     zeros(f),     zeros(C * f), zeros(C)};
    nn::Arena measured;
    nn::BlockActivations<float>::take(measured, shape);
    nn::Workspace<float>::take(measured, shape);
    nn::Arena arena(measured.used());
    const auto a = nn::BlockActivations<float>::take(arena, shape);
    const nn::Context<float> ctx{gemm, stream, nn::Workspace<float>::take(arena, shape), [&](float* p, std::size_t n) {
                                   cudaStreamSynchronize(stream);
                                   if (sum) sum(p, n);
                                 }};
    float *d_x = device(x), *out = zeros(N * C), *d = device(dy);
    cudaDeviceSynchronize();
    nn::block_forward(ctx, shape, w, d_x, a, out);
    nn::block_backward(ctx, shape, w, g, d_x, a, d);
    cudaStreamSynchronize(stream);
    return Result{host(out, N * C), host(d, N * C), host(g.qkv_w, 3 * A * C), host(g.fc2_w, C * f),
                  host(g.ln1_gamma, C)};
  };
  const Result whole = compute(0, 1, {});
  std::barrier meet(ranks);
  float* partial[ranks];
  Result shard[ranks];
  int sums = 0;
  auto rank_main = [&](int rank) {
    shard[rank] = compute(rank, ranks, [&, rank](float* p, std::size_t n) {
      partial[rank] = p;
      meet.arrive_and_wait();
      if (rank == 0) {
        ++sums;
        const Values total = reference::add(host(partial[0], n), host(partial[1], n));
        const std::vector<float> narrow(total.begin(), total.end());
        for (float* to : partial) cudaMemcpy(to, narrow.data(), n * sizeof(float), cudaMemcpyHostToDevice);
      }
      meet.arrive_and_wait();
    });
  };
  std::thread other(rank_main, 1);
  rank_main(0);
  other.join();
  expect(sums == 4, "two sums forward and two backward");
  const int A = C / ranks, f = F / ranks;
  for (int r = 0; r < ranks; ++r) {
    close("output of shards", shard[r].out, whole.out, 2e-6);
    close("dx of shards", shard[r].dx, whole.dx, 5e-6);
    close("dgamma of shards", shard[r].ln1_gamma, whole.ln1_gamma, 5e-6);
    Values rows;
    for (int which = 0; which < 3; ++which)
      for (double v : part(whole.qkv_w, C, which * C + r * A, A, 0, C)) rows.push_back(v);
    close("dW of column-parallel shards", shard[r].qkv_w, rows, 5e-6);
    close("dW of row-parallel shards", shard[r].fc2_w, part(whole.fc2_w, F, 0, C, r * f, f), 5e-6);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "types") {
    test_type<__nv_bfloat16>("bf16", 0.05, 1);
    test_type<__half>("fp16", 0.01, 256);
    test_type<__nv_bfloat16>("bf16, fused attention", 0.05, 1, true);
    test_type<__half>("fp16, fused attention", 0.01, 256, true);
    test_fused_memory();
  } else if (what == "learns") {
    test_learns_bf16();
    test_loss_scale();
  } else if (what == "shards") {
    test_shards();
    test_optimizer_shards();
  } else {
    std::printf("usage: more types | learns | shards\n");
    return 2;
  }
  std::puts("ok");
}
