// How large the gradients of a small GPT are, before and after some training, and what fp16 makes of them.
//   ./ridge cc -I runtime labs/10_mixed_precision/experiments/gradients.cu -lcublas -o gradients
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "nn/trainer.cuh"

namespace {

// exponents[e]: gradients g with floor(log2 |g|) = -e.
void print(const std::vector<float>& gradient, int steps) {
  const int kMost = 40;
  std::vector<int> exponents(kMost + 1);
  int zeros = 0, all = 0;
  for (float g : gradient) {
    ++all;
    if (g == 0)
      ++zeros;
    else
      ++exponents[static_cast<std::size_t>(std::min(kMost, std::max(0, -std::ilogb(g))))];
  }
  std::printf("after %d steps: %d gradients, %d of them 0 (rows of the embedding without a token, padding)\n", steps,
              all, zeros);
  for (int from = 0; from < kMost; from += 4) {
    int count = 0;
    for (int e = from; e < from + 4; ++e) count += exponents[static_cast<std::size_t>(e)];
    if (count > 0)
      std::printf("  2^-%-2d to 2^-%-2d %6.2f%% %s\n", from + 3, from, 100.0 * count / (all - zeros),
                  std::string(static_cast<std::size_t>(60.0 * count / (all - zeros)), '#').c_str());
  }
  // Below 2^-25 fp16 rounds to 0, below 2^-14 it has fewer than 11 bits.
  for (int log_tokens : {0, 13, 19})
    for (int log_scale : {0, 16}) {
      int lost = 0, subnormal = 0;
      for (int e = 0; e <= kMost; ++e) {
        const int in_fp16 = -e - log_tokens + log_scale;
        if (in_fp16 < -25)
          lost += exponents[static_cast<std::size_t>(e)];
        else if (in_fp16 < -14)
          subnormal += exponents[static_cast<std::size_t>(e)];
      }
      std::printf("  mean over 2^%-2d times the tokens, scale 2^%-2d: %5.1f%% become 0, %5.1f%% lose bits\n",
                  log_tokens, log_scale, 100.0 * lost / (all - zeros), 100.0 * subnormal / (all - zeros));
    }
}

}  // namespace

int main() {
  nn::TrainConfig train;
  train.batch = 4, train.sequence = 16, train.steps = 40, train.clip = 0;
  nn::Trainer<float> trainer({16, 16, 2, 2, 32, true}, train);
  const nn::MarkovSource source(16, 1, 1);
  nn::Random random(2);
  std::vector<float> gradient(trainer.gpt().layout().elements);
  for (int step = 0; step <= train.steps; ++step) {
    trainer.accumulate([&] { return source.sample(train.batch, train.sequence, random); });
    if (step == 0 || step == train.steps) {
      cudaMemcpy(gradient.data(), trainer.gpt().gradients(), gradient.size() * sizeof(float), cudaMemcpyDeviceToHost);
      print(gradient, step);
    }
    trainer.update();
  }
}
