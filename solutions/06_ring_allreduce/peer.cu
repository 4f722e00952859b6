// Lab 06, task `peer`: an all-reduce of loads and stores over the links, in one kernel. It needs GPUs.
//
// A rank stores its summands straight into the memory of the rank that adds them, and a flag behind them.
// Run: ./ridge check 06 --task peer
#include "ring.hpp"

// TASK(peer)
#include <algorithm>

namespace {

constexpr int kThreads = 512, kUnroll = 2;

// The blocks of this number of all ranks wait for each other here; `which` and `epoch` name the synchronisation.
__device__ void meet(const Windows& windows, int which, unsigned epoch) {
  __syncthreads();
  if (threadIdx.x < windows.ranks) {
    const int other = static_cast<int>(threadIdx.x);
    tell(&windows.of[other].signals->arrived[which][blockIdx.x][windows.rank], epoch);
    wait_for(&windows.of[windows.rank].signals->arrived[which][blockIdx.x][other], epoch);
  }
  __syncthreads();
}

// The elements of a chunk that this block has, four at a time and then the rest one by one: body(i, Vector or float).
struct Span {
  std::size_t count;  // of the chunk
  template <class Four, class One>
  __device__ void each(Four four, One one) const {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x, fours = count / 4;
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    for (std::size_t i = first; i < fours; i += kUnroll * stride) four(i, stride, fours);
    if (const std::size_t i = 4 * fours + first; i < count) one(i);
  }
};

__device__ const float4* fours(const float* p) { return reinterpret_cast<const float4*>(p); }
__device__ float4* fours(float* p) { return reinterpret_cast<float4*>(p); }
__device__ float4 sum(float4 a, float4 b) { return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w}; }

// in, out: n floats of this rank, out may be in; chunk: floats of a part, a multiple of 4. Of each window the first P chunks are
// what came from each rank, the other P the parts of the sum.
template <int P>
__global__ void __launch_bounds__(kThreads, 1)
    peer_kernel(Windows windows, const float* in, float* out, std::size_t n, std::size_t chunk) {
  const int rank = windows.rank;
  auto* signals = windows.of[rank].signals;
  const unsigned epoch = signals->epoch[blockIdx.x] + 1;
  auto span = [&](int c) {
    const std::size_t first = min(static_cast<std::size_t>(c) * chunk, n);
    return Span{min(chunk, n - first)};
  };

  // Rank r begins with r + 1: no two ranks store to the same one at a time.
#pragma unroll
  for (int k = 1; k < P; ++k) {
    const int to = (rank + k) % P;
    const float* from = in + static_cast<std::size_t>(to) * chunk;
    float* room = windows.of[to].data + static_cast<std::size_t>(rank) * chunk;
    span(to).each(
        [&](std::size_t i, std::size_t stride, std::size_t end) {
          float4 v[kUnroll];
#pragma unroll
          for (int u = 0; u < kUnroll; ++u)
            if (i + u * stride < end) v[u] = fours(from)[i + u * stride];
#pragma unroll
          for (int u = 0; u < kUnroll; ++u)
            if (i + u * stride < end) fours(room)[i + u * stride] = v[u];
        },
        [&](std::size_t i) { room[i] = from[i]; });
  }
  meet(windows, 0, epoch);

  // All add in the order of the ranks, so this rank's part is made once, and handed on.
  const std::size_t own = static_cast<std::size_t>(rank) * chunk;
  const float* came = windows.of[rank].data;
  auto term = [&](int r) { return r == rank ? in + own : came + static_cast<std::size_t>(r) * chunk; };
  auto result = [&](int r) {
    return r == rank ? out + own : windows.of[r].data + (static_cast<std::size_t>(P) + rank) * chunk;
  };
  span(rank).each(
      [&](std::size_t i, std::size_t stride, std::size_t end) {
        float4 v[kUnroll][P];
#pragma unroll
        for (int u = 0; u < kUnroll; ++u)
#pragma unroll
          for (int r = 0; r < P; ++r)
            if (i + u * stride < end) v[u][r] = fours(term(r))[i + u * stride];
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
          float4 s = v[u][0];
#pragma unroll
          for (int r = 1; r < P; ++r) s = sum(s, v[u][r]);
#pragma unroll
          for (int k = 0; k < P; ++k)
            if (i + u * stride < end) fours(result((rank + k) % P))[i + u * stride] = s;
        }
      },
      [&](std::size_t i) {
        float s = term(0)[i];
        for (int r = 1; r < P; ++r) s += term(r)[i];
        for (int r = 0; r < P; ++r) result(r)[i] = s;
      });
  meet(windows, 1, epoch);

#pragma unroll
  for (int k = 1; k < P; ++k) {
    const int of = (rank + k) % P;
    const float* from = came + (static_cast<std::size_t>(P) + of) * chunk;
    float* to = out + static_cast<std::size_t>(of) * chunk;
    span(of).each(
        [&](std::size_t i, std::size_t stride, std::size_t end) {
          float4 v[kUnroll];
#pragma unroll
          for (int u = 0; u < kUnroll; ++u)
            if (i + u * stride < end) v[u] = fours(from)[i + u * stride];
#pragma unroll
          for (int u = 0; u < kUnroll; ++u)
            if (i + u * stride < end) fours(to)[i + u * stride] = v[u];
        },
        [&](std::size_t i) { to[i] = from[i]; });
  }
  if (threadIdx.x == 0) signals->epoch[blockIdx.x] = epoch;
}

template <int P>
void launch(const float* in, float* out, std::size_t n, const Windows& windows, cudaStream_t stream) {
  const std::size_t chunk = peer_chunk(n, P);
  // All blocks must be on the device at once, since they wait for others: one a multiprocessor at most.
  const auto blocks = static_cast<unsigned>(std::clamp<std::size_t>(chunk / 4 / kThreads, 1, kPeerBlocks));
  peer_kernel<P><<<blocks, kThreads, 0, stream>>>(windows, in, out, n, chunk);
}

}  // namespace

void peer(const float* in, float* out, std::size_t n, const Windows& windows, ncclComm_t, cudaStream_t stream) {
  switch (windows.ranks) {
    case 1:
      if (in != out) cudaMemcpyAsync(out, in, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
      break;
    case 2:
      launch<2>(in, out, n, windows, stream);
      break;
    case 3:
      launch<3>(in, out, n, windows, stream);
      break;
    case 4:
      launch<4>(in, out, n, windows, stream);
      break;
    case 5:
      launch<5>(in, out, n, windows, stream);
      break;
    case 6:
      launch<6>(in, out, n, windows, stream);
      break;
    case 7:
      launch<7>(in, out, n, windows, stream);
      break;
    default:
      launch<8>(in, out, n, windows, stream);
  }
}
// END(peer)
