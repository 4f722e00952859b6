// Lab 06, task `staged`: a ring all-reduce by way of the host.
//
// An MPI without GPU support sends from the host's memory only: each chunk is copied to a page-locked buffer,
// sent, and copied back to the device, which adds. Run: ./ridge check 06 --task staged
#include "ring.hpp"

// in, received, out: n floats. out = in + received.
__global__ void staged_add_kernel(const float* in, const float* received, float* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + received[i];
}

// TASK(staged)
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

// A page-locked buffer that only grows: locking pages takes longer than a transfer.
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
  if (p == 1) {
    cudaMemcpyAsync(out, in, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
    return;
  }
  static Staging staging;
  const std::size_t largest = chunk_of(n, p, 0).count;
  float *outgoing = staging.at_least(2 * largest), *incoming = outgoing + largest;
  auto* received = static_cast<float*>(workspace);  // each chunk at its own place
  const int right = (r + 1) % p, left = (r + p - 1) % p;
  auto chunk = [=](int c) { return chunk_of(n, p, (c + p) % p); };
  auto exchange = [&](Part sent, Part got) {
    MPI_Sendrecv(outgoing, static_cast<int>(sent.count), MPI_FLOAT, right, 0, incoming, static_cast<int>(got.count),
                 MPI_FLOAT, left, 0, comm, MPI_STATUS_IGNORE);
  };

  // Reduce-scatter: what was reduced in one step is sent in the next. At the end chunk r + 1 is complete here.
  for (int s = 0; s + 1 < p; ++s) {
    const Part sent = chunk(r - s), got = chunk(r - s - 1);
    const float* from = s == 0 ? in : out;
    cudaMemcpyAsync(outgoing, from + sent.first, sent.count * sizeof(float), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);  // it has arrived, and the last step's copy has left `incoming`
    exchange(sent, got);
    if (got.count == 0) continue;
    cudaMemcpyAsync(received + got.first, incoming, got.count * sizeof(float), cudaMemcpyHostToDevice, stream);
    staged_add_kernel<<<static_cast<unsigned>((got.count + 255) / 256), 256, 0, stream>>>(
        in + got.first, received + got.first, out + got.first, got.count);
  }

  // All-gather: what came in one step is sent on from the host in the next.
  const Part own = chunk(r + 1);
  cudaMemcpyAsync(outgoing, out + own.first, own.count * sizeof(float), cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  for (int s = 0; s + 1 < p; ++s) {
    const Part got = chunk(r - s);
    exchange(chunk(r + 1 - s), got);
    cudaStreamSynchronize(stream);  // the last step's copy from the buffer that becomes `incoming`
    cudaMemcpyAsync(out + got.first, incoming, got.count * sizeof(float), cudaMemcpyHostToDevice, stream);
    std::swap(outgoing, incoming);
  }
  cudaStreamSynchronize(stream);  // the next call fills the buffer again
}
// END(staged)
