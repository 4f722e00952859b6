// Loss curves of one small GPT in fp32, bf16 and fp16, the last with and without a (constant) loss scale. The gradient is a mean
// over 2^26 tokens, as of a large batch, of which this device has 64.
//   ./ridge cc -I runtime labs/10_mixed_precision/experiments/curves.cu -lcublas -o curves
#include <cstdio>
#include <vector>

#include "nn/trainer.cuh"

namespace {

constexpr int kSteps = 30;

template <class T>
std::vector<float> losses(float scale) {
  nn::TrainConfig train;
  train.batch = 4, train.sequence = 16, train.steps = kSteps, train.learning_rate = 1e-2f;
  nn::Gpt<T> gpt({16, 16, 1, 2, 16, true}, train, nullptr);
  const nn::MarkovSource source(16, 1, 1);
  nn::Random random(2);
  const std::size_t n = gpt.layout().elements, tokens = 64;
  int* batch = nullptr;  // tokens, then targets
  float *loss = nullptr, *norm = nullptr, *scratch = nullptr;
  cudaMalloc(&batch, 2 * tokens * sizeof(int));
  cudaMalloc(&loss, kSteps * sizeof(float));
  cudaMalloc(&norm, 2 * sizeof(float));
  cudaMalloc(&scratch, nn::kNormBlocks * sizeof(float));
  cudaMemset(loss, 0, kSteps * sizeof(float));
  for (int k = 0; k < kSteps; ++k) {
    const nn::Batch next = source.sample(train.batch, train.sequence, random);
    cudaMemcpy(batch, next.tokens.data(), tokens * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(batch + tokens, next.targets.data(), tokens * sizeof(int), cudaMemcpyHostToDevice);
    gpt.clear_gradients();
    gpt.forward(batch, batch + tokens, 1.0f / tokens, 0x1p-26f * scale, loss + k);
    gpt.backward(batch);
    nn::gradient_norm(gpt.gradients(), n, 0, 1 / scale, norm, scratch, nullptr);
    const nn::AdamWStep step = nn::adamw_step(k + 1, nn::learning_rate(train, k), 0.9f, 0.95f, 1e-15f, 0);
    nn::adamw(gpt.master(), gpt.weights(), gpt.gradients(), gpt.first_moments(), gpt.second_moments(), n, step,
              norm + 1, nullptr);
  }
  std::vector<float> out(kSteps);
  cudaMemcpy(out.data(), loss, kSteps * sizeof(float), cudaMemcpyDeviceToHost);
  for (void* p :
       {static_cast<void*>(batch), static_cast<void*>(loss), static_cast<void*>(norm), static_cast<void*>(scratch)})
    cudaFree(p);
  return out;
}

}  // namespace

int main() {
  const std::vector<float> curves[] = {losses<float>(1), losses<__nv_bfloat16>(1), losses<__half>(0x1p16f),
                                       losses<__half>(1)};
  std::printf("step    fp32    bf16    fp16, scale 2^16    fp16 alone\n");
  for (std::size_t k = 0; k < kSteps; k = k < 4 ? k + 1 : k + 5)
    std::printf("%4zu  %.4f  %.4f  %.4f              %.4f\n", k, static_cast<double>(curves[0][k]),
                static_cast<double>(curves[1][k]), static_cast<double>(curves[2][k]),
                static_cast<double>(curves[3][k]));
}
