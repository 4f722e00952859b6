// All-reduce over peer memory: every device reads and writes the others' memory by loads and stores over NVLink.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

constexpr int kMostRanks = 8, kMostBlocks = 132;

// Of one device; the others can reach it.
struct Shared {
  unsigned arrived[2][kMostBlocks][kMostRanks];  // two barriers of a call: block and rank that wrote it
  unsigned epoch[kMostBlocks];                   // calls so far, of each block; the device's own
  unsigned packets_epoch, packets_blocks;
};

// What a kernel knows of all ranks.
struct Peers {
  const float* in[kMostRanks];
  float* out[kMostRanks];
  Shared* shared[kMostRanks];
  uint4* packets[kMostRanks];  // 2 x ranks x kPacketWords / 2 packets of two floats with a flag each
};
constexpr std::size_t kPacketWords = 64 * 1024;  // floats of one rank

__device__ inline void store_release(unsigned* p, unsigned v) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
__device__ inline unsigned load_acquire(const unsigned* p) {
  unsigned v;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}

// Blocks of the same number on all ranks wait for each other: thread r tells rank r, and waits for its word.
template <int P>
__device__ void meet(const Peers& peers, int rank, int which, unsigned epoch) {
  __syncthreads();
  if (threadIdx.x < P) {
    store_release(&peers.shared[threadIdx.x]->arrived[which][blockIdx.x][rank], epoch);
    while (load_acquire(&peers.shared[rank]->arrived[which][blockIdx.x][threadIdx.x]) != epoch) {
    }
  }
  __syncthreads();
}

// in, out: n floats on each rank, n a multiple of 4 P. Each rank adds one chunk of all ranks and writes the sum to all: a
// rank reads and writes (P - 1) / P n over the links, in one kernel. All blocks must be resident.
template <int P, int kUnroll>
__global__ void __launch_bounds__(512, 1) two_shot(Peers peers, int rank, std::size_t n) {
  Shared* own = peers.shared[rank];
  const unsigned epoch = own->epoch[blockIdx.x] + 1;
  meet<P>(peers, rank, 0, epoch);  // all inputs are there, and nobody reads the last outputs any more
  const std::size_t chunk = n / P / 4, first = chunk * static_cast<std::size_t>(rank);
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  // Rank r begins with itself: no two ranks read from the same one at a time.
  const float4* in[P];
  float4* out[P];
#pragma unroll
  for (int k = 0; k < P; ++k) {
    in[k] = reinterpret_cast<const float4*>(peers.in[(rank + k) % P]) + first;
    out[k] = reinterpret_cast<float4*>(peers.out[(rank + k) % P]) + first;
  }
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < chunk; i += kUnroll * stride) {
    float4 v[kUnroll][P];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u)
#pragma unroll
      for (int k = 0; k < P; ++k)
        if (i + u * stride < chunk) v[u][k] = __ldcs(in[k] + i + u * stride);
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      float4 s = {0, 0, 0, 0};
#pragma unroll
      for (int k = 0; k < P; ++k) s.x += v[u][k].x, s.y += v[u][k].y, s.z += v[u][k].z, s.w += v[u][k].w;
#pragma unroll
      for (int k = 0; k < P; ++k)
        if (i + u * stride < chunk) __stcs(out[k] + i + u * stride, s);
    }
  }
  __threadfence_system();
  meet<P>(peers, rank, 1, epoch);  // all outputs are there
  if (threadIdx.x == 0) own->epoch[blockIdx.x] = epoch;
}

// in, out: n floats, n even, n <= kPacketWords. Every rank sends its data to all, each float with a flag in the same store,
// and adds what it gets: one latency and no barrier. Packets are of two kinds in turn: when a rank writes the kind of two
// calls ago, all have answered the call between, so they have read it.
template <int P>
__global__ void packets(Peers peers, int rank, std::size_t n) {
  const unsigned epoch = peers.shared[rank]->packets_epoch + 1;  // increased by the kernel behind
  const std::size_t half = kPacketWords / 2, kind = (epoch & 1) * P;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n / 2;
       i += std::size_t{gridDim.x} * blockDim.x) {
    const float2 mine = reinterpret_cast<const float2*>(peers.in[rank])[i];
    const unsigned a = __float_as_uint(mine.x), b = __float_as_uint(mine.y);
#pragma unroll
    for (int k = 1; k < P; ++k) {
      uint4* to = peers.packets[(rank + k) % P] + (kind + static_cast<std::size_t>(rank)) * half + i;
      asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(a), "r"(epoch), "r"(b), "r"(epoch)
                   : "memory");
    }
    float2 v[P];
#pragma unroll
    for (int r = 0; r < P; ++r) {
      if (r == rank) {
        v[r] = mine;
        continue;
      }
      const uint4* from = peers.packets[rank] + (kind + static_cast<std::size_t>(r)) * half + i;
      uint4 p;
      do {
        asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(p.x), "=r"(p.y), "=r"(p.z), "=r"(p.w)
                     : "l"(from)
                     : "memory");
      } while (p.y != epoch || p.w != epoch);
      v[r] = {__uint_as_float(p.x), __uint_as_float(p.z)};
    }
    float2 s = {0, 0};
#pragma unroll
    for (int r = 0; r < P; ++r) s.x += v[r].x, s.y += v[r].y;
    reinterpret_cast<float2*>(peers.out[rank])[i] = s;
  }
  // The last block to end counts the call.
  __shared__ bool last;
  if (threadIdx.x == 0) last = atomicAdd(&peers.shared[rank]->packets_blocks, 1) == gridDim.x - 1;
  __syncthreads();
  if (last && threadIdx.x == 0) peers.shared[rank]->packets_blocks = 0, peers.shared[rank]->packets_epoch = epoch;
}
