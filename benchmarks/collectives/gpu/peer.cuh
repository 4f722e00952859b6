// All-reduce over peer memory: every device reads and writes the others' memory by loads and stores over NVLink.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

constexpr int kMostRanks = 8, kMostBlocks = 132;

// Of one device; the others can reach it.
struct Shared {
  unsigned arrived[3][kMostBlocks][kMostRanks];  // barriers of a call: block and rank that wrote it
  unsigned epoch[kMostBlocks];                   // calls so far, of each block; the device's own
  unsigned packets_epoch[2][4 * kMostBlocks];    // calls so far of `packets` and of `packets_twice`, of each block
};

// What a kernel knows of all ranks.
struct Peers {
  const float* in[kMostRanks];
  float* out[kMostRanks];
  float* scratch[kMostRanks];  // as large as the inputs
  Shared* shared[kMostRanks];
  uint4* packets[kMostRanks];  // 4 x ranks x kPackets: two kinds of `packets`, then those of `packets_twice`
};
constexpr std::size_t kPacketWords = 128 * 1024;  // floats of one rank
constexpr std::size_t kPackets = kPacketWords / 3 + 2;
constexpr int kPacketThreads = 128;  // of a block
static_assert(kPackets / kPacketThreads < 4 * kMostBlocks, "a packet has a thread of its own");

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

// The same with stores only over the links, which need no answer: every rank writes a chunk of its inputs to each other rank's
// scratch, then adds what came to it and writes the sum to all. n a multiple of 4 P; all blocks must be resident.
template <int P, int kUnroll>
__global__ void __launch_bounds__(512, 1) push(Peers peers, int rank, std::size_t n) {
  Shared* own = peers.shared[rank];
  const unsigned epoch = own->epoch[blockIdx.x] + 1;
  const std::size_t chunk = n / P / 4, stride = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t start = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const auto* in = reinterpret_cast<const float4*>(peers.in[rank]);
  meet<P>(peers, rank, 0, epoch);  // nobody reads the last scratch any more
  for (std::size_t i = start; i < chunk; i += kUnroll * stride) {
    float4 v[kUnroll][P];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u)
#pragma unroll
      for (int k = 1; k < P; ++k)
        if (i + u * stride < chunk)
          v[u][k] = __ldcs(in + static_cast<std::size_t>((rank + k) % P) * chunk + i + u * stride);
#pragma unroll
    for (int u = 0; u < kUnroll; ++u)
#pragma unroll
      for (int k = 1; k < P; ++k)
        if (i + u * stride < chunk)
          reinterpret_cast<float4*>(
              peers.scratch[(rank + k) % P])[static_cast<std::size_t>(rank) * chunk + i + u * stride] = v[u][k];
  }
  __threadfence_system();
  meet<P>(peers, rank, 1, epoch);
  const auto* came = reinterpret_cast<const float4*>(peers.scratch[rank]);
  for (std::size_t i = start; i < chunk; i += kUnroll * stride) {
    float4 v[kUnroll][P];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u)
#pragma unroll
      for (int r = 0; r < P; ++r)
        if (i + u * stride < chunk)
          v[u][r] = __ldcs((r == rank ? in : came) + static_cast<std::size_t>(r) * chunk + i + u * stride);
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      float4 s = {0, 0, 0, 0};
#pragma unroll
      for (int r = 0; r < P; ++r) s.x += v[u][r].x, s.y += v[u][r].y, s.z += v[u][r].z, s.w += v[u][r].w;
#pragma unroll
      for (int k = 0; k < P; ++k)
        if (i + u * stride < chunk)
          reinterpret_cast<float4*>(
              peers.out[(rank + k) % P])[static_cast<std::size_t>(rank) * chunk + i + u * stride] = s;
    }
  }
  __threadfence_system();
  meet<P>(peers, rank, 2, epoch);
  if (threadIdx.x == 0) own->epoch[blockIdx.x] = epoch;
}

// Packets of three floats and a flag, in one store: who sees the flag has the data, and nobody waits for a barrier. Packets are
// of two kinds in turn: when a rank writes the kind of two calls ago, all have answered the call between, so they have read it.
__device__ inline void send(uint4* to, float a, float b, float c, unsigned flag) {
  asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(__float_as_uint(a)),
               "r"(__float_as_uint(b)), "r"(__float_as_uint(c)), "r"(flag)
               : "memory");
}
__device__ inline float3 receive(const uint4* from, unsigned flag) {
  uint4 p;
  do {
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(p.x), "=r"(p.y), "=r"(p.z), "=r"(p.w)
                 : "l"(from)
                 : "memory");
  } while (p.w != flag);
  return {__uint_as_float(p.x), __uint_as_float(p.y), __uint_as_float(p.z)};
}
__device__ inline float3 load3(const float* from, std::size_t left) {
  return {from[0], left > 1 ? from[1] : 0, left > 2 ? from[2] : 0};
}
__device__ inline void store3(float* to, std::size_t left, float3 v) {
  to[0] = v.x;
  if (left > 1) to[1] = v.y;
  if (left > 2) to[2] = v.z;
}
// Packet i belongs to the same block in calls of any size, and all ranks make the same calls. So each block counts the calls that
// it took part in, and no block waits for the others' end.
__device__ inline void count_call(unsigned* own, unsigned epoch) {
  __syncthreads();
  if (threadIdx.x == 0) own[blockIdx.x] = epoch;
}

// in, out: n floats, n <= kPacketWords. Every rank sends its data to all and adds what it gets: one latency.
template <int P>
__global__ void __launch_bounds__(kPacketThreads) packets(Peers peers, int rank, std::size_t n) {
  unsigned* calls = peers.shared[rank]->packets_epoch[0];
  const unsigned epoch = calls[blockIdx.x] + 1;
  const std::size_t kind = (epoch & 1) * P;
  if (const std::size_t i = std::size_t{blockIdx.x} * kPacketThreads + threadIdx.x; 3 * i < n) {
    const float3 mine = load3(peers.in[rank] + 3 * i, n - 3 * i);
#pragma unroll
    for (int k = 1; k < P; ++k)
      send(peers.packets[(rank + k) % P] + (kind + static_cast<std::size_t>(rank)) * kPackets + i, mine.x, mine.y,
           mine.z, epoch);
    float3 s = {0, 0, 0};
#pragma unroll
    for (int r = 0; r < P; ++r) {
      const float3 v =
          r == rank ? mine : receive(peers.packets[rank] + (kind + static_cast<std::size_t>(r)) * kPackets + i, epoch);
      s.x += v.x, s.y += v.y, s.z += v.z;
    }
    store3(peers.out[rank] + 3 * i, n - 3 * i, s);
  }
  count_call(calls, epoch);
}

// in, out: n floats, a multiple of P, n / P <= kPacketWords / 2. A rank's chunk comes to it in packets, and its sums go to all in
// packets: two latencies, and 2 (P - 1) / P n data instead of (P - 1) n.
template <int P>
__global__ void __launch_bounds__(kPacketThreads) packets_twice(Peers peers, int rank, std::size_t n) {
  unsigned* calls = peers.shared[rank]->packets_epoch[1];
  const unsigned epoch = calls[blockIdx.x] + 1;
  const std::size_t kind = (2 + (epoch & 1)) * P, chunk = n / P;
  // The second half of each rank's room is for sums.
  auto room = [&](int to, int from, bool sums) {
    return peers.packets[to] + (kind + static_cast<std::size_t>(from)) * kPackets + (sums ? kPackets / 2 : 0);
  };
  if (const std::size_t i = std::size_t{blockIdx.x} * kPacketThreads + threadIdx.x; 3 * i < chunk) {
    const std::size_t left = chunk - 3 * i;
    const float* in = peers.in[rank] + 3 * i;
    float* out = peers.out[rank] + 3 * i;
#pragma unroll
    for (int k = 1; k < P; ++k) {
      const int to = (rank + k) % P;
      const float3 v = load3(in + static_cast<std::size_t>(to) * chunk, left);
      send(room(to, rank, false) + i, v.x, v.y, v.z, epoch);
    }
    const float3 mine = load3(in + static_cast<std::size_t>(rank) * chunk, left);
    float3 s = {0, 0, 0};
#pragma unroll
    for (int r = 0; r < P; ++r) {
      const float3 v = r == rank ? mine : receive(room(rank, r, false) + i, epoch);
      s.x += v.x, s.y += v.y, s.z += v.z;
    }
#pragma unroll
    for (int k = 1; k < P; ++k) send(room((rank + k) % P, rank, true) + i, s.x, s.y, s.z, epoch);
    store3(out + static_cast<std::size_t>(rank) * chunk, left, s);
#pragma unroll
    for (int k = 1; k < P; ++k) {
      const int r = (rank + P - k) % P;
      store3(out + static_cast<std::size_t>(r) * chunk, left, receive(room(rank, r, true) + i, epoch));
    }
  }
  count_call(calls, epoch);
}
