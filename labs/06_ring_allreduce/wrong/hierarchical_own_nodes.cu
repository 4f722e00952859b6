// replaces: hierarchical.cu; fails: hierarchical/traffic; backend: cpu
// Two nodes, whatever the caller says.
#include <algorithm>

#include "ring.hpp"

namespace {

// in, received, out: n floats; out may be in. out = in + received.
__global__ void add_kernel(const float* in, const float* received, float* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + received[i];
}

struct Part {
  std::size_t first, count;
};

// `size` ranks of the communicator, this one at place `me`. They hold `whole` in as many chunks.
struct Ring {
  int me, size, left, right;
  Part whole;
  Part chunk(int c) const {
    const auto p = static_cast<std::size_t>(size), index = static_cast<std::size_t>((c + 2 * size) % size);
    const std::size_t length = (whole.count + p - 1) / p, skipped = std::min(index * length, whole.count);
    return {whole.first + skipped, std::min(length, whole.count - skipped)};
  }
};

void exchange(const Ring& ring, const float* from, Part sent, float* to, Part got, ncclComm_t comm,
              cudaStream_t stream) {
  ncclGroupStart();
  if (sent.count > 0) ncclSend(from + sent.first, sent.count, ncclFloat, ring.right, comm, stream);
  if (got.count > 0) ncclRecv(to + got.first, got.count, ncclFloat, ring.left, comm, stream);
  ncclGroupEnd();
}

// Afterwards chunk `me` of out is complete here. The last step gets it, so the first one sends chunk me - 1.
void reduce_scatter(const Ring& ring, const float* in, float* out, float* received, ncclComm_t comm,
                    cudaStream_t stream) {
  for (int s = 0; s + 1 < ring.size; ++s) {
    const Part got = ring.chunk(ring.me - s - 2);
    exchange(ring, s == 0 ? in : out, ring.chunk(ring.me - s - 1), received, got, comm, stream);
    if (got.count > 0)
      add_kernel<<<static_cast<unsigned>((got.count + 255) / 256), 256, 0, stream>>>(
          in + got.first, received + got.first, out + got.first, got.count);
  }
}

void all_gather(const Ring& ring, float* out, ncclComm_t comm, cudaStream_t stream) {
  for (int s = 0; s + 1 < ring.size; ++s)
    exchange(ring, out, ring.chunk(ring.me - s), out, ring.chunk(ring.me - s - 1), comm, stream);
}

}  // namespace

void hierarchical(const float* in, float* out, std::size_t n, int per_node, void* workspace, std::size_t,
                  ncclComm_t comm, cudaStream_t stream) {
  int r = 0, p = 1;
  ncclCommUserRank(comm, &r);
  ncclCommCount(comm, &p);
  per_node = p % 2 == 0 ? p / 2 : p;
  const int place = r % per_node, first = r - place;  // `first`: the node's rank 0
  auto* received = static_cast<float*>(workspace);    // each chunk at its own place
  const Ring node{place, per_node, first + (place + per_node - 1) % per_node, first + (place + 1) % per_node, {0, n}};
  const Ring between{r / per_node, p / per_node, (r + p - per_node) % p, (r + per_node) % p, node.chunk(place)};

  if (per_node == 1) cudaMemcpyAsync(out, in, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
  reduce_scatter(node, in, out, received, comm, stream);
  reduce_scatter(between, out, out, received, comm, stream);
  all_gather(between, out, comm, stream);
  all_gather(node, out, comm, stream);
}
