// replaces: staged.cu; fails: staged/traffic; backend: cpu
// Rank 0 adds everything and sends it back: it moves p times what a ring asks of a rank.
#include "ring.hpp"

// in, received, out: n floats. out = in + received.
__global__ void staged_add_kernel(const float* in, const float* received, float* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + received[i];
}

#include <algorithm>
#include <utility>

namespace {

struct Part {
  std::size_t first, count;
};

// Chunk c of n elements in p chunks; the last ones may be short or empty.
Part chunk_of(std::size_t n, int p, int c) {
  const std::size_t chunk = (n + static_cast<std::size_t>(p) - 1) / static_cast<std::size_t>(p);
  const std::size_t first = std::min(static_cast<std::size_t>(c) * chunk, n);
  return {first, std::min(chunk, n - first)};
}

// A page-locked buffer that only grows: to lock pages costs more than a message.
struct Staging {
  float* memory = nullptr;
  std::size_t capacity = 0;
  float* at_least(std::size_t count) {
    if (count > capacity) {
      cudaFreeHost(memory);
      cudaMallocHost(&memory, count * sizeof(float));
      capacity = count;
    }
    return memory;
  }
  ~Staging() { cudaFreeHost(memory); }  // when the program ends
};

}  // namespace

void staged(const float* in, float* out, std::size_t n, void* workspace, std::size_t, MPI_Comm comm,
            cudaStream_t stream) {
  int r = 0, p = 1;
  MPI_Comm_rank(comm, &r);
  MPI_Comm_size(comm, &p);
  static Staging staging;
  float* message = staging.at_least(n);
  auto* received = static_cast<float*>(workspace);
  const auto count = static_cast<int>(n);
  const std::size_t bytes = n * sizeof(float);
  if (r == 0) {
    cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, stream);
    for (int from = 1; from < p; ++from) {
      MPI_Recv(message, count, MPI_FLOAT, from, 0, comm, MPI_STATUS_IGNORE);
      cudaMemcpyAsync(received, message, bytes, cudaMemcpyHostToDevice, stream);
      staged_add_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(out, received, out, n);
      cudaStreamSynchronize(stream);
    }
    cudaMemcpyAsync(message, out, bytes, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    for (int to = 1; to < p; ++to) MPI_Send(message, count, MPI_FLOAT, to, 0, comm);
    return;
  }
  cudaMemcpyAsync(message, in, bytes, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  MPI_Send(message, count, MPI_FLOAT, 0, 0, comm);
  MPI_Recv(message, count, MPI_FLOAT, 0, 0, comm, MPI_STATUS_IGNORE);
  cudaMemcpyAsync(out, message, bytes, cudaMemcpyHostToDevice, stream);
  cudaStreamSynchronize(stream);
}
