// Unpacks a call record of the judge for lab 10; the model of task `train`.
#include "lab/call.hpp"
#define NN_UNFUSED
#include "nn/gpt.cuh"
#include "precision.hpp"

namespace {

std::size_t at(long long n) { return static_cast<std::size_t>(n); }
std::size_t padded(long long n) { return (at(n) + 63) / 64 * 64; }  // arrays behind each other begin at 128 bytes

// The betas, epsilon and the decay; check/adamw.cpp has the same.
struct Constants {
  float beta1, beta2, epsilon, decay;
};
constexpr Constants kConstants[] = {{0.9f, 0.95f, 1e-8f, 0.1f}, {0.8f, 0.999f, 1e-3f, 0}, {0.95f, 0.9f, 1e-5f, 0.3f}};

// Sizes: n, calls, rate in millionths, 1: fp32 gradients and fp16 weights, then which of kConstants at 7. The first call leaves its inputs alone, later ones work
// in place, each with a state of its own.
template <class G, class W>
void call_adamw(const ridge_call& c) {
  const std::size_t n = at(c.size[0]);
  const Constants& k = kConstants[c.size[7]];
  const AdamWStep step{static_cast<float>(c.size[2]) * 1e-6f, k.beta1, k.beta2, k.epsilon, k.decay};
  const auto* gradient = static_cast<const G*>(c.in[0]);
  const auto *w = static_cast<const float*>(c.in[1]), *moments = static_cast<const float*>(c.in[2]);
  const auto* states = static_cast<const LossScale*>(c.in[3]);
  auto *new_w = static_cast<float*>(c.out[0]), *new_m = static_cast<float*>(c.out[1]);
  auto* new_v = static_cast<float*>(c.out[2]);
  auto* weights = static_cast<W*>(c.out[3]);
  adamw(gradient, w, moments, moments + padded(c.size[0]), new_w, new_m, new_v, weights, n, step, states, c.stream);
  for (long long call = 1; call < c.size[1]; ++call)
    adamw(gradient, new_w, new_m, new_v, new_w, new_m, new_v, weights, n, step, states + call, c.stream);
}

// Sizes: n, calls, 1: each call goes on from the last one's result. Else all have the same input, and an output each: of steps 1
// and 2 of the seed, of step 1 of two other seeds, of step 1 of the seed again, of step 257, and of step 1 of a third seed.
void call_stochastic(const ridge_call& c) {
  const auto* in = static_cast<const __nv_bfloat16*>(c.in[0]);
  const auto* update = static_cast<const float*>(c.in[1]);
  auto* out = static_cast<__nv_bfloat16*>(c.out[0]);
  const auto seed = static_cast<std::uint64_t>(c.size[3]);
  const auto calls = static_cast<std::uint32_t>(c.size[1]);
  const std::uint64_t seeds[] = {seed, seed, seed + 1, seed ^ 1ull << 40, seed, seed, seed ^ 3};
  constexpr std::uint32_t kSteps[] = {1, 2, 1, 1, 1, 257, 1};
  for (std::uint32_t k = 0; k < calls; ++k) {
    if (c.size[2] == 1)
      stochastic(k == 0 ? in : out, update, out, at(c.size[0]), seed, k + 1, c.workspace, c.workspace_bytes, c.stream);
    else
      stochastic(in, update, out + k * padded(c.size[0]), at(c.size[0]), seeds[k % 7], kSteps[k % 7], c.workspace,
                 c.workspace_bytes, c.stream);
  }
}

// Sizes: n, steps, interval, type. Each step has gradients of its own. In every third one `next` is `state`.
template <class G>
void call_loss_scaler(const ridge_call& c) {
  const auto* gradient = static_cast<const G*>(c.in[0]);
  const auto* state = static_cast<const LossScale*>(c.in[1]);
  auto* next = static_cast<LossScale*>(c.out[0]);
  for (long long k = 0; k < c.size[1]; ++k) {
    if (k % 3 == 2) {
      cudaMemcpyAsync(next + k, state, sizeof *state, cudaMemcpyDeviceToDevice, c.stream);
      state = next + k;
    }
    loss_scaler(gradient + at(k) * padded(c.size[0]), at(c.size[0]), state, next + k, static_cast<int>(c.size[2]),
                c.workspace, c.workspace_bytes, c.stream);
    state = next + k;
  }
}

// The judge's weights in fp16. master, weights: (n).
__global__ void round_kernel(const float* master, __half* weights, std::size_t n) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) weights[i] = __float2half_rn(master[i]);
}

// The effect of a broken batch: one element of the gradient becomes an inf or a NaN. fault: its place, or -1, and its bits.
__global__ void fault_kernel(const int* fault, float* gradients) {
  if (fault[0] >= 0) gradients[fault[0]] = __int_as_float(fault[1]);
}

}  // namespace

// For each step of a run and each of its micro-batches: tokens (B, T), then targets (B, T); faults: (2).
struct Batches {
  nn::Gpt<__half> gpt;
  const int *tokens, *faults;
  std::size_t of_batch;         // B T
  float of_loss, of_gradients;  // 1 / the tokens of a step, and 1 / those that its mean gradient is over
};

void forward_backward(Model& model, int step, int micro_batch, const float* scale, float* loss) {
  Batches& b = *model.batches;
  const std::size_t which = at(step) * at(model.micro_batches) + at(micro_batch);
  const int* tokens = b.tokens + which * 2 * b.of_batch;
  b.gpt.forward(tokens, tokens + b.of_batch, b.of_loss, b.of_gradients, loss, scale);
  b.gpt.backward(tokens);
  fault_kernel<<<1, 1, 0, b.gpt.stream()>>>(b.faults + 2 * which, model.gradients);
}

namespace {

// Sizes: steps, micro-batches, B, T, C, log2 of the tokens that the gradient's mean is over (0: those of the step), interval (and
// 1000 for other betas and another decay), clip in thousandths, for a mean over the step's own tokens.
void call_train(const ridge_call& c) {
  const nn::ModelConfig config{16, static_cast<int>(c.size[3]), 1, 2, static_cast<int>(c.size[4]), true};
  nn::TrainConfig shape;
  shape.batch = static_cast<int>(c.size[2]), shape.sequence = static_cast<int>(c.size[3]);
  const std::size_t tokens = at(c.size[2] * c.size[3]);
  const float of_step = 1 / static_cast<float>(tokens * at(c.size[1]));
  Batches batches{nn::Gpt<__half>(config, shape, c.stream),
                  static_cast<const int*>(c.in[1]),
                  static_cast<const int*>(c.in[2]),
                  tokens,
                  of_step,
                  c.size[5] == 0 ? of_step : 1 / static_cast<float>(1ll << c.size[5])};
  nn::Gpt<__half>& gpt = batches.gpt;
  const std::size_t n = gpt.layout().elements;
  Model model{n,
              gpt.master(),
              gpt.gradients(),
              gpt.first_moments(),
              gpt.second_moments(),
              gpt.weights(),
              {},
              static_cast<int>(c.size[0]),
              static_cast<int>(c.size[1]),
              &batches};
  for (const nn::Parameter& p : gpt.layout().parameters) model.tensors.push_back({p.offset, p.size(), p.decay});
  cudaMemcpyAsync(model.master, c.in[0], n * sizeof(float), cudaMemcpyDeviceToDevice, c.stream);
  round_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, c.stream>>>(model.master, model.weights, n);
  auto* states = static_cast<LossScale*>(c.out[1]);
  cudaMemcpyAsync(states, c.in[3], sizeof(LossScale), cudaMemcpyDeviceToDevice, c.stream);
  const float clip = static_cast<float>(c.size[7]) * 1e-3f * (batches.of_gradients / of_step);
  const bool other = c.size[6] >= 1000;
  const TrainOptions options{1e-2f,
                             other ? 0.5f : 0.9f,
                             other ? 0.2f : 0.95f,
                             1e-15f,
                             other ? 6.0f : 3.0f,
                             clip,
                             static_cast<int>(c.size[6] % 1000)};
  train(model, options, states, static_cast<float*>(c.out[0]), c.workspace, c.workspace_bytes, c.stream);
  cudaMemcpyAsync(c.out[2], model.master, n * sizeof(float), cudaMemcpyDeviceToDevice, c.stream);
  cudaStreamSynchronize(c.stream);  // before the model goes
}

}  // namespace

bool ridge_entry(const ridge_call& c) {
  if (c.is("sum")) {
    sum(static_cast<const __nv_bfloat16*>(c.in[0]), static_cast<float*>(c.out[0]), static_cast<int>(c.size[0]),
        static_cast<int>(c.size[1]), c.workspace, c.workspace_bytes, c.stream);
  } else if (c.is("adamw")) {
    if (c.size[3] == 0)
      call_adamw<__nv_bfloat16, __nv_bfloat16>(c);
    else
      call_adamw<float, __half>(c);
  } else if (c.is("stochastic")) {
    call_stochastic(c);
  } else if (c.is("loss_scaler")) {
    if (c.size[3] == 0)
      call_loss_scaler<__half>(c);
    else
      call_loss_scaler<float>(c);
  } else if (c.is("train")) {
    call_train(c);
  } else {
    return false;
  }
  return true;
}
