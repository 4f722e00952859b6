// Lab 19, task `all_to_all`: tokens to their experts and back, once to each node.
//
// Run: ./ridge check 19 --task all_to_all
#include <cstdio>
#include <cstdlib>

#include "all_to_all.hpp"

namespace {

// rows: (any, width); index, to: (count), (count, width). to[i] = rows[index[i]].
__global__ void gather_kernel(const float* rows, const int* index, float* to, int count, int width) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count * width) to[i] = rows[index[i / width] * width + i % width];
}

// packed, index: (count, width), (count); sum: (any, width). sum[index[i]] += packed[i]; no index comes twice.
__global__ void add_rows_kernel(const float* packed, const int* index, float* sum, int count, int width) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count * width) sum[index[i / width] * width + i % width] += packed[i];
}

unsigned blocks(int threads) { return static_cast<unsigned>((threads + 255) / 256); }

// Hands out parts of the workspace, aligned to 256 bytes.
class Memory {
 public:
  Memory(void* workspace, std::size_t bytes) : next_(static_cast<char*>(workspace)), left_(bytes) {}
  float* floats(std::size_t n) { return static_cast<float*>(bytes(n * sizeof(float))); }
  int* ints(std::size_t n) { return static_cast<int*>(bytes(n * sizeof(int))); }

 private:
  void* bytes(std::size_t n) {
    n = (n + 255) / 256 * 256;
    if (n > left_) {
      std::fprintf(stderr, "all_to_all: the workspace has %zu bytes left, and %zu are needed\n", left_, n);
      std::abort();
    }
    char* here = next_;
    next_ += n, left_ -= n;
    return here;
  }
  char* next_;
  std::size_t left_;
};

[[maybe_unused]] int sum_of(const std::vector<int>& counts) {
  int sum = 0;
  for (const int c : counts) sum += c;
  return sum;
}

// On the device, with the stream's work in order.
[[maybe_unused]] int* upload(const std::vector<int>& values, Memory& memory, cudaStream_t stream) {
  int* to = memory.ints(values.size() + 1);
  if (!values.empty()) cudaMemcpyAsync(to, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice, stream);
  return to;
}

// The numbers of the experts in `count` rows on the device. The host waits.
[[maybe_unused]] std::vector<int> experts_in(const float* rows, int count, const Layer& layer, cudaStream_t stream) {
  const auto k = static_cast<std::size_t>(layer.choices), n = static_cast<std::size_t>(count);
  std::vector<float> numbers(n * k + 1);
  if (count > 0)
    cudaMemcpy2DAsync(numbers.data(), k * sizeof(float), rows + layer.width,
                      static_cast<std::size_t>(layer.row()) * sizeof(float), k * sizeof(float), n,
                      cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  return {numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(n * k)};
}

// `to`: the ranks of this hop, ascending; goes(token, rank): whether this token is to be sent there.
template <class Goes>
Hop hop_of(int p, int count, const std::vector<int>& to, Goes goes) {
  Hop hop;
  hop.sent.assign(static_cast<std::size_t>(p), 0), hop.received = hop.sent;
  for (const int rank : to)
    for (int token = 0; token < count; ++token)
      if (goes(token, rank)) hop.row.push_back(token), ++hop.sent[static_cast<std::size_t>(rank)];
  return hop;
}

// from: rows by the rank they go to; to: by the rank they come from.
[[maybe_unused]] void exchange_rows(const float* from, const std::vector<int>& sent, float* to,
                                    const std::vector<int>& received, int width, ncclComm_t comm, cudaStream_t stream) {
  const auto floats = static_cast<std::size_t>(width);
  ncclGroupStart();
  for (std::size_t q = 0; q < sent.size(); ++q) {
    const std::size_t out = static_cast<std::size_t>(sent[q]) * floats;
    const std::size_t in = static_cast<std::size_t>(received[q]) * floats;
    if (out > 0) ncclSend(from, out, ncclFloat, static_cast<int>(q), comm, stream);
    if (in > 0) ncclRecv(to, in, ncclFloat, static_cast<int>(q), comm, stream);
    from += out, to += in;
  }
  ncclGroupEnd();
}

}  // namespace

// TASK(all_to_all)
int limit(int n, int choices, int all_experts, int capacity, int* expert) {
  // TODO: who comes too late?
  (void)n, (void)choices, (void)all_experts, (void)capacity, (void)expert;
  return 0;
}

int dispatch(const Layer& layer, const float* rows, const int* expert, int n, float* batch, Plan* plan, void* workspace,
             std::size_t workspace_bytes, ncclComm_t comm, cudaStream_t stream) {
  // TODO: this keeps every token at home. Make a Hop from `expert`, exchange counts, then rows; then the second hop.
  (void)expert, (void)plan, (void)comm;
  Memory memory(workspace, workspace_bytes);
  std::vector<int> all;
  for (int i = 0; i < n; ++i) all.push_back(i);
  const int* index = upload(all, memory, stream);
  if (n > 0) gather_kernel<<<blocks(n * layer.row()), 256, 0, stream>>>(rows, index, batch, n, layer.row());
  return n;
}

void combine(const Layer& layer, const float* results, int n, const Plan& plan, float* out, void* workspace,
             std::size_t workspace_bytes, ncclComm_t comm, cudaStream_t stream) {
  // TODO: the same hops backwards, each with the sum of what comes.
  (void)plan, (void)comm;
  Memory memory(workspace, workspace_bytes);
  std::vector<int> all;
  for (int i = 0; i < n; ++i) all.push_back(i);
  const int* index = upload(all, memory, stream);
  cudaMemsetAsync(out, 0, static_cast<std::size_t>(n * layer.width) * sizeof(float), stream);
  if (n > 0) add_rows_kernel<<<blocks(n * layer.width), 256, 0, stream>>>(results, index, out, n, layer.width);
}
// END(all_to_all)
