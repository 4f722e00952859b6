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
  std::vector<int> taken(static_cast<std::size_t>(all_experts), 0);
  int dropped = 0;
  for (int i = 0; i < n * choices; ++i)
    if (expert[i] >= 0 && ++taken[static_cast<std::size_t>(expert[i])] > capacity) expert[i] = -1, ++dropped;
  return dropped;
}

namespace {

void exchange_counts(Hop& hop, const std::vector<int>& peers, Memory& memory, ncclComm_t comm, cudaStream_t stream) {
  const int* mine = upload(hop.sent, memory, stream);
  int* others = memory.ints(hop.received.size());
  cudaMemsetAsync(others, 0, hop.received.size() * sizeof(int), stream);
  ncclGroupStart();
  for (const int q : peers) {
    ncclSend(mine + q, 1, ncclInt, q, comm, stream);
    ncclRecv(others + q, 1, ncclInt, q, comm, stream);
  }
  ncclGroupEnd();
  cudaMemcpyAsync(hop.received.data(), others, hop.received.size() * sizeof(int), cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
}

// Call exchange_counts first. rows: (any, width); to: the received rows.
void forward(const Hop& hop, const float* rows, float* to, int width, Memory& memory, ncclComm_t comm,
             cudaStream_t stream) {
  const int count = static_cast<int>(hop.row.size());
  const int* index = upload(hop.row, memory, stream);
  float* packed = memory.floats(hop.row.size() * static_cast<std::size_t>(width) + 1);
  if (count > 0) gather_kernel<<<blocks(count * width), 256, 0, stream>>>(rows, index, packed, count, width);
  exchange_rows(packed, hop.sent, to, hop.received, width, comm, stream);
}

// sum: (count, width): the sum of the rows that all ranks return for each row that was sent.
void backward(const Hop& hop, const float* rows, float* sum, int count, int width, Memory& memory, ncclComm_t comm,
              cudaStream_t stream) {
  float* packed = memory.floats(hop.row.size() * static_cast<std::size_t>(width) + 1);
  exchange_rows(rows, hop.received, packed, hop.sent, width, comm, stream);
  const int* index = upload(hop.row, memory, stream);
  cudaMemsetAsync(sum, 0, static_cast<std::size_t>(count * width) * sizeof(float), stream);
  for (const int n : hop.sent) {
    if (n > 0) add_rows_kernel<<<blocks(n * width), 256, 0, stream>>>(packed, index, sum, n, width);
    packed += n * width, index += n;
  }
}

}  // namespace

int dispatch(const Layer& layer, const float* rows, const int* expert, int n, float* batch, Plan* plan, void* workspace,
             std::size_t workspace_bytes, ncclComm_t comm, cudaStream_t stream) {
  int r = 0, p = 1;
  ncclCommUserRank(comm, &r);
  ncclCommCount(comm, &p);
  Memory memory(workspace, workspace_bytes);
  std::vector<int> same_place, same_node;
  for (int q = 0; q < p; ++q) {
    if (q % layer.per_node == r % layer.per_node) same_place.push_back(q);
    if (q / layer.per_node == r / layer.per_node) same_node.push_back(q);
  }
  // Whether one of the token's experts is on one of `ranks` ranks from the first on.
  auto wants = [&layer](const int* experts_of_token, int first, int ranks) {
    for (int j = 0; j < layer.choices; ++j)
      if (const int e = experts_of_token[j]; e >= first * layer.experts && e < (first + ranks) * layer.experts)
        return true;
    return false;
  };
  plan->across = hop_of(p, n, same_place, [&](int token, int q) {
    return wants(expert + token * layer.choices, q / layer.per_node * layer.per_node, layer.per_node);
  });
  exchange_counts(plan->across, same_place, memory, comm, stream);
  const int count = sum_of(plan->across.received);
  float* here = memory.floats(static_cast<std::size_t>(count * layer.row()) + 1);
  forward(plan->across, rows, here, layer.row(), memory, comm, stream);

  const std::vector<int> in_node = experts_in(here, count, layer, stream);
  plan->inside = hop_of(p, count, same_node,
                        [&](int token, int q) { return wants(in_node.data() + token * layer.choices, q, 1); });
  exchange_counts(plan->inside, same_node, memory, comm, stream);
  forward(plan->inside, here, batch, layer.row(), memory, comm, stream);
  return sum_of(plan->inside.received);
}

void combine(const Layer& layer, const float* results, int n, const Plan& plan, float* out, void* workspace,
             std::size_t workspace_bytes, ncclComm_t comm, cudaStream_t stream) {
  Memory memory(workspace, workspace_bytes);
  const int count = sum_of(plan.across.received);
  float* here = memory.floats(static_cast<std::size_t>(count * layer.width) + 1);
  backward(plan.inside, results, here, count, layer.width, memory, comm, stream);
  backward(plan.across, here, out, n, layer.width, memory, comm, stream);
}
// END(all_to_all)
