// Unpacks a call record of the judge for lab 07.
#include <cmath>
#include <cstring>
#include <vector>

#include "lab/call.hpp"
#include "model.hpp"

namespace {

// One model of the call's shape, kept until another is asked for: its memory is allocated once.
Model& model_of(const ridge_call& c, int sequences) {
  const nn::ModelConfig config{static_cast<int>(c.size[4]), static_cast<int>(c.size[3]), static_cast<int>(c.size[0]),
                               static_cast<int>(c.size[2]), static_cast<int>(c.size[1]), true};
  struct Kept {
    std::unique_ptr<Model> model;
    long long shape[7] = {};
    cudaStream_t stream = nullptr;
  };
  static thread_local Kept& kept = *new Kept;  // never freed: when the process ends, CUDA may be gone before it
  const long long shape[7] = {c.size[0], c.size[1], c.size[2], c.size[3], c.size[4], sequences, c.rank->rank};
  if (kept.model == nullptr || std::memcmp(kept.shape, shape, sizeof shape) != 0 || kept.stream != c.stream) {
    kept.model.reset();  // first, so that both never are there at once
    kept.model = std::make_unique<Model>(config, static_cast<int>(c.size[3]), sequences, c.stream);
    std::memcpy(kept.shape, shape, sizeof shape);
    kept.stream = c.stream;
  }
  return *kept.model;
}

// As in check.cpp.
constexpr float kRate = 0.25f;
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

}  // namespace

bool ridge_entry(const ridge_call& c) {
  auto comm = static_cast<ncclComm_t>(c.rank->communicator);
  const auto* first = static_cast<const float*>(c.in[0]);
  auto out = [&](int i) { return static_cast<float*>(c.out[i]); };
  if (c.is("compressed") || c.is("compressed_host")) {
    const auto task = c.is("compressed") ? compressed : compressed_host;
    const auto n = static_cast<std::size_t>(c.size[0]);
    copy(out(1), c.in[1], n, c.stream);
    task(first, out(1), out(0), n, static_cast<std::size_t>(c.size[1]), c.workspace, c.workspace_bytes, comm, c.stream);
    return true;
  }

  // Sizes: layers, channels, heads, T, vocabulary, sequences of a micro-batch on all ranks, micro-batches, bucket_bytes.
  const auto p = static_cast<long long>(c.rank->ranks), all = c.size[5], count = c.size[6];
  const auto sequences = static_cast<int>(all / p + (c.rank->rank < all % p ? 1 : 0));
  const long long all_tokens = all * count * c.size[3];
  const auto bucket_bytes = static_cast<std::size_t>(c.size[7]);
  Model& model = model_of(c, sequences);
  const std::size_t n = model.elements();
  const auto* words = static_cast<const int*>(c.in[1]);  // (count, 2, sequences, T)
  std::vector<Batch> batches;
  for (long long i = 0; i < count; ++i) {
    const long long size = sequences * c.size[3];
    batches.push_back({words + 2 * i * size, words + (2 * i + 1) * size, sequences});
  }

  // Copies the gradients in `stream`, as an optimizer would read them: an all-reduce that has not ended by then shows.
  auto* gradients = static_cast<float*>(c.workspace);
  if (c.is("after")) {
    copy(out(0), first, n, c.stream);
    after(model, out(0), batches[0], all_tokens, kRate, out(1), comm, c.stream);
  } else if (c.is("overlapped")) {
    overlapped(model, first, batches[0], all_tokens, bucket_bytes, gradients, comm, c.stream);
    copy(out(0), gradients, n, c.stream);
  } else if (c.is("accumulated")) {
    accumulated(model, first, batches.data(), static_cast<int>(count), all_tokens, bucket_bytes, gradients, comm,
                c.stream);
    copy(out(0), gradients, n, c.stream);
  } else if (c.is("sharded")) {
    const std::size_t own = n / static_cast<std::size_t>(p);
    copy(out(0), first, n, c.stream);
    copy(out(1), c.in[2], own, c.stream);
    copy(out(2), c.in[3], own, c.stream);
    sharded(model, out(0), batches[0], all_tokens, adam(), out(1), out(2), c.workspace, c.workspace_bytes, comm,
            c.stream);
  } else {
    return false;
  }
  return true;
}
