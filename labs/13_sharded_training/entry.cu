// Unpacks a call record of the judge for lab 13.
#include <cmath>
#include <cstring>
#include <vector>

#include "lab/call.hpp"
#include "layers.hpp"
#include "nn/gpt.cuh"

namespace {

nn::ModelConfig config_of(const ridge_call& c) {
  return {static_cast<int>(c.size[4]), static_cast<int>(c.size[3]), static_cast<int>(c.size[0]),
          static_cast<int>(c.size[2]), static_cast<int>(c.size[1]), true};
}

// One model of the call's shape, kept until another is asked for: its memory is allocated once.
Model& model_of(const ridge_call& c, int sequences) {
  struct Kept {
    std::unique_ptr<Model> model;
    long long shape[7] = {};
    cudaStream_t stream = nullptr;
  };
  static thread_local Kept& kept = *new Kept;  // never freed: when the process ends, CUDA may be gone before it
  const long long shape[7] = {c.size[0], c.size[1], c.size[2], c.size[3], c.size[4], sequences, c.rank->rank};
  if (kept.model == nullptr || std::memcmp(kept.shape, shape, sizeof shape) != 0 || kept.stream != c.stream) {
    kept.model.reset();  // first, so that both never are there at once
    kept.model = std::make_unique<Model>(config_of(c), static_cast<int>(c.size[3]), sequences, c.stream);
    std::memcpy(kept.shape, shape, sizeof shape);
    kept.stream = c.stream;
  }
  return *kept.model;
}

// As in check/.
AdamW adam() {
  constexpr float beta1 = 0.9f, beta2 = 0.95f;
  constexpr int step = 10;
  return {0.01f,
          beta1,
          beta2,
          1e-6f,
          0.1f,
          static_cast<float>(1 / (1 - std::pow(static_cast<double>(beta1), step))),
          static_cast<float>(1 / (1 - std::pow(static_cast<double>(beta2), step)))};
}

void copy(void* to, const void* from, std::size_t elements, cudaStream_t stream) {
  cudaMemcpyAsync(to, from, elements * sizeof(float), cudaMemcpyDeviceToDevice, stream);
}

// out[0]: for stages 0 to 3 the four numbers of the plan and the largest batch; then what an arena of runtime/nn has for
// activations. Sizes: layers, channels, heads, T, vocabulary, batch, 2 ranks + bf16, bytes of memory.
void plans(const ridge_call& c) {
  Setup setup{config_of(c), static_cast<int>(c.size[3]), c.size[6] % 2 != 0, static_cast<int>(c.size[6] / 2), 0};
  const int batch = static_cast<int>(c.size[5]);
  std::vector<std::int64_t> out;
  for (; setup.stage < 4; ++setup.stage) {
    const Memory plan = memory_plan(setup, batch);
    out.insert(out.end(),
               {plan.weights, plan.gradients, plan.optimizer, plan.activations, largest_batch(setup, c.size[7])});
  }
  nn::TrainConfig train;
  train.batch = batch, train.sequence = setup.sequence;
  const nn::MemoryPlan arena =
      setup.bf16 ? nn::Gpt<__nv_bfloat16>::plan(setup.model, train) : nn::Gpt<float>::plan(setup.model, train);
  out.push_back(static_cast<std::int64_t>(arena[nn::Use::activations]));
  cudaMemcpyAsync(c.out[0], out.data(), out.size() * sizeof out[0], cudaMemcpyHostToDevice, c.stream);
}

// out[0]: what `recompute` returned, then its choice. Sizes: blocks, budget in MiB.
void choices(const ridge_call& c) {
  const auto count = static_cast<std::size_t>(c.size[0]);
  std::vector<Cost> blocks(count);
  cudaMemcpyAsync(blocks.data(), c.in[0], count * sizeof blocks[0], cudaMemcpyDeviceToHost, c.stream);
  cudaStreamSynchronize(c.stream);
  // Not vector<bool>. A value of neither kind shows what was not written.
  std::vector<unsigned char> keep(count, 7);
  const bool fits =
      recompute(blocks.data(), static_cast<int>(count), c.size[1] << 20, reinterpret_cast<bool*>(keep.data()));
  std::vector<int> out = {fits ? 1 : 0};
  out.insert(out.end(), keep.begin(), keep.end());
  cudaMemcpyAsync(c.out[0], out.data(), out.size() * sizeof out[0], cudaMemcpyHostToDevice, c.stream);
}

// in: gradients; weights, m and v; the files of q ranks. out: gradients, norm, file; weights, m and v from the files. Sizes: n, q,
// max_norm in thousandths of sqrt(n), or 0.
void clips(const ridge_call& c) {
  auto comm = static_cast<ncclComm_t>(c.rank->communicator);
  const auto n = static_cast<std::size_t>(c.size[0]);
  const int q = static_cast<int>(c.size[1]);
  const std::size_t part = part_of(n, c.rank->ranks);
  const auto *state = static_cast<const float*>(c.in[1]), *files = static_cast<const float*>(c.in[2]);
  auto out = [&](int i) { return static_cast<float*>(c.out[i]); };
  const float limit =
      c.size[2] == 0 ? 1.0f
                     : static_cast<float>(static_cast<double>(c.size[2]) * 1e-3 * std::sqrt(static_cast<double>(n)));
  copy(out(0), c.in[0], part, c.stream);
  clip_and_save(out(0), state, state + part, state + 2 * part, n, limit, out(1), out(2), c.workspace, c.workspace_bytes,
                comm, c.stream);
  std::vector<const float*> file;
  for (int s = 0; s < q; ++s) file.push_back(files + 3 * static_cast<std::size_t>(s) * part_of(n, q));
  load_state(file.data(), q, n, out(3), out(3) + part, out(3) + 2 * part, comm, c.stream);
}

}  // namespace

bool ridge_entry(const ridge_call& c) {
  if (c.is("memory_plan")) {
    plans(c);
    return true;
  }
  if (c.is("recompute")) {
    choices(c);
    return true;
  }
  if (c.is("clip_and_save")) {
    clips(c);
    return true;
  }
  auto comm = static_cast<ncclComm_t>(c.rank->communicator);
  const auto* first = static_cast<const float*>(c.in[0]);
  auto out = [&](int i) { return static_cast<float*>(c.out[i]); };

  // Sizes: layers, channels, heads, T, vocabulary, sequences of all ranks.
  const auto p = static_cast<long long>(c.rank->ranks), all = c.size[5];
  const auto sequences = static_cast<int>(all / p + (c.rank->rank < all % p ? 1 : 0));
  const long long all_tokens = all * c.size[3], tokens = sequences * c.size[3];
  Model& model = model_of(c, sequences);
  const auto* words = static_cast<const int*>(c.in[1]);  // (2, sequences, T)
  const Batch batch{words, words + tokens, sequences};
  const std::size_t n = model.elements(), own = n / static_cast<std::size_t>(p);
  copy(out(2), c.in[2], own, c.stream);
  copy(out(3), c.in[3], own, c.stream);
  if (c.is("zero2")) {
    copy(out(0), first, n, c.stream);
    zero2(model, out(0), batch, all_tokens, adam(), out(1), out(2), out(3), c.workspace, c.workspace_bytes, comm,
          c.stream);
  } else if (c.is("zero3")) {
    copy(out(0), first, own, c.stream);
    zero3(model, out(0), batch, all_tokens, adam(), out(1), out(2), out(3), c.workspace, c.workspace_bytes, comm,
          c.stream);
  } else {
    return false;
  }
  return true;
}
