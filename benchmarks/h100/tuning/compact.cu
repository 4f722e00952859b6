// Lab 03's compaction in variants beside cub::DeviceSelect::If; compact.txt beside this file is what it printed.
//   nvcc -O3 -std=c++20 -gencode=arch=compute_90a,code=sm_90a -Ilabs/03_warp_shuffle \
//     benchmarks/h100/tuning/compact.cu solutions/03_warp_shuffle/compact.cu -o compact
// `compact --plant` makes one variant drop an element, which the comparison with CUB's output must find.
#include <cuda_pipeline_primitives.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cub/cub.cuh>
#include <functional>
#include <string>
#include <vector>

#include "warp_shuffle.hpp"

constexpr int kRow = 32 * 4;
constexpr unsigned kWarp = 0xffffffffu;
enum : std::uint64_t { kNothing = 0, kSum = 1, kPrefix = 2 };

enum Load { streaming, l2_128, l2_256, read_only, no_l1_256, last_use };
template <Load kLoad>
__device__ float4 load(const float4* p) {
  float4 v;
  if constexpr (kLoad == streaming) v = __ldcs(p);
  if constexpr (kLoad == l2_128)
    asm volatile("ld.global.L2::128B.v4.f32 {%0,%1,%2,%3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(p));
  if constexpr (kLoad == l2_256)
    asm volatile("ld.global.L2::256B.v4.f32 {%0,%1,%2,%3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(p));
  if constexpr (kLoad == read_only) v = __ldg(p);
  if constexpr (kLoad == no_l1_256)
    asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.f32 {%0,%1,%2,%3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(p));
  if constexpr (kLoad == last_use) v = __ldlu(p);
  return v;
}

__device__ std::uint32_t warp_sum(std::uint32_t x) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(kWarp, x, step);
  return x;
}

__device__ std::uint32_t look_back(std::uint64_t* status, int tile, int lane) {
  std::uint32_t sum = 0;
  for (int nearest = tile - 1;; nearest -= 32) {
    std::uint64_t w = kPrefix << 32;
    unsigned prefixes, empty;
    int last;
    do {
      if (nearest >= lane) w = *static_cast<volatile std::uint64_t*>(status + nearest - lane);
      prefixes = __ballot_sync(kWarp, w >> 32 == kPrefix);
      empty = __ballot_sync(kWarp, w >> 32 == kNothing);
      last = prefixes ? __ffs(static_cast<int>(prefixes)) - 1 : 31;
    } while (empty & (0xffffffffu >> (31 - last)));
    sum += warp_sum(lane <= last ? static_cast<std::uint32_t>(w) : 0);
    if (prefixes) return sum;
  }
}

// in: n floats; out: room for n; count: 1; ticket: 0; status: a word for each tile, all kNothing. A block has one tile, as
// in the solution before 26 November 2026; kBlocks 0 leaves registers to the compiler; kPacked: two ranks in a register.
template <int kThreads, int kRows, int kBlocks, Load kLoad, bool kPacked>
__global__ void __launch_bounds__(kThreads, kBlocks)
    variant(const float* in, float* out, std::uint32_t* count, std::size_t n, unsigned* ticket, std::uint64_t* status,
            bool planted) {
  constexpr int kWarps = kThreads / 32, kTile = kWarps * kRows * kRow;
  extern __shared__ float kept[];
  __shared__ int drawn;
  __shared__ std::uint32_t of_warp[kWarps], before_tile;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  if (threadIdx.x == 0) drawn = static_cast<int>(atomicAdd(ticket, 1));
  __syncthreads();
  const int tile = drawn;
  const std::size_t first = std::size_t(tile) * kTile + warp * (kRows * kRow) + lane * 4;
  float4 v[kRows];
  if (std::size_t(tile + 1) * kTile <= n) {
#pragma unroll
    for (int k = 0; k < kRows; ++k) v[k] = load<kLoad>(reinterpret_cast<const float4*>(in + first + k * kRow));
  } else {
    for (int k = 0; k < kRows; ++k) {
      const std::size_t i = first + k * kRow;
      v[k] = make_float4(i < n ? in[i] : 0, i + 1 < n ? in[i + 1] : 0, i + 2 < n ? in[i + 2] : 0,
                         i + 3 < n ? in[i + 3] : 0);
    }
  }
  const unsigned lower = (1u << lane) - 1;
  std::uint32_t rank[kPacked ? (kRows + 1) / 2 : kRows], total = 0;
#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    const unsigned x = __ballot_sync(kWarp, v[k].x > 0), y = __ballot_sync(kWarp, v[k].y > 0);
    const unsigned z = __ballot_sync(kWarp, v[k].z > 0), w = __ballot_sync(kWarp, v[k].w > 0);
    const std::uint32_t r = total + __popc(x & lower) + __popc(y & lower) + __popc(z & lower) + __popc(w & lower);
    if constexpr (!kPacked)
      rank[k] = r;
    else
      rank[k / 2] = k % 2 == 0 ? r : rank[k / 2] | r << 16;
    total += __popc(x) + __popc(y) + __popc(z) + __popc(w);
  }
  if (lane == 0) of_warp[warp] = total;
  __syncthreads();
  const std::uint32_t own = lane < kWarps ? of_warp[lane] : 0;
  const std::uint32_t sum = warp_sum(own), before_warp = warp_sum(lane < warp ? own : 0);
  auto publish = [&](std::uint64_t flag, std::uint32_t value) {
    *static_cast<volatile std::uint64_t*>(status + tile) = flag << 32 | value;
  };
  if (warp == 0 && lane == 0) publish(tile == 0 ? kPrefix : kSum, sum);
#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    const std::uint32_t r = kPacked ? rank[k / 2] >> (k % 2 * 16) & 0xffff : rank[k];
    float* to = kept + before_warp + r;
    if (v[k].x > 0) *to++ = v[k].x;
    if (v[k].y > 0) *to++ = v[k].y;
    if (v[k].z > 0) *to++ = v[k].z;
    if (v[k].w > 0) *to++ = v[k].w;
  }
  if (warp == 0) {
    const std::uint32_t prefix = look_back(status, tile, lane);
    if (lane == 0) {
      if (tile != 0) publish(kPrefix, prefix + sum);
      if (tile == static_cast<int>(gridDim.x) - 1) *count = prefix + sum;
      before_tile = prefix;
    }
  }
  __syncthreads();
  const int shift = static_cast<int>(before_tile % 32);
  for (int i = static_cast<int>(threadIdx.x) - shift; i < static_cast<int>(sum); i += kThreads)
    if (i >= 0 && !(planted && tile == 7 && i == 5)) __stcs(out + before_tile + i, kept[i]);
}

// Rows of a tile from `in` to registers; beyond the end: 0, which nobody keeps.
template <int kRows, int kTile, Load kLoad>
__device__ void load_rows(float4 (&v)[kRows], const float* in, std::size_t n, int tile, int warp, int lane) {
  const std::size_t first = std::size_t(tile) * kTile + warp * (kRows * kRow) + lane * 4;
  if (std::size_t(tile + 1) * kTile <= n) {
#pragma unroll
    for (int k = 0; k < kRows; ++k) v[k] = load<kLoad>(reinterpret_cast<const float4*>(in + first + k * kRow));
  } else {
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      const std::size_t i = first + k * kRow;
      v[k] = make_float4(i < n ? in[i] : 0, i + 1 < n ? in[i + 1] : 0, i + 2 < n ? in[i + 2] : 0,
                         i + 3 < n ? in[i + 3] : 0);
    }
  }
}

// The same tensors. A block takes tile after tile: as soon as a tile's elements lie in shared memory, their registers
// receive the next tile's, which travel during the look-back and the stores.
template <int kThreads, int kRows, int kBlocks, Load kLoad, bool kPacked>
__global__ void __launch_bounds__(kThreads, kBlocks)
    next_in_registers(const float* in, float* out, std::uint32_t* count, std::size_t n, unsigned* ticket,
                      std::uint64_t* status, int tiles) {
  constexpr int kWarps = kThreads / 32, kTile = kWarps * kRows * kRow;
  extern __shared__ float kept[];
  __shared__ int drawn;
  __shared__ std::uint32_t of_warp[kWarps], before_tile;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  if (threadIdx.x == 0) drawn = static_cast<int>(atomicAdd(ticket, 1));
  __syncthreads();
  int tile = drawn;
  float4 v[kRows];
  if (tile < tiles) load_rows<kRows, kTile, kLoad>(v, in, n, tile, warp, lane);
  __syncthreads();
  while (tile < tiles) {
    if (threadIdx.x == 0) drawn = static_cast<int>(atomicAdd(ticket, 1));
    const unsigned lower = (1u << lane) - 1;
    std::uint32_t rank[kPacked ? (kRows + 1) / 2 : kRows], total = 0;
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      const unsigned x = __ballot_sync(kWarp, v[k].x > 0), y = __ballot_sync(kWarp, v[k].y > 0);
      const unsigned z = __ballot_sync(kWarp, v[k].z > 0), w = __ballot_sync(kWarp, v[k].w > 0);
      const std::uint32_t r = total + __popc(x & lower) + __popc(y & lower) + __popc(z & lower) + __popc(w & lower);
      if constexpr (!kPacked)
        rank[k] = r;
      else
        rank[k / 2] = k % 2 == 0 ? r : rank[k / 2] | r << 16;
      total += __popc(x) + __popc(y) + __popc(z) + __popc(w);
    }
    if (lane == 0) of_warp[warp] = total;
    __syncthreads();  // and nobody reads `kept` any more
    const int next = drawn;
    const std::uint32_t own = lane < kWarps ? of_warp[lane] : 0;
    const std::uint32_t sum = warp_sum(own), before_warp = warp_sum(lane < warp ? own : 0);
    auto publish = [&](std::uint64_t flag, std::uint32_t value) {
      *static_cast<volatile std::uint64_t*>(status + tile) = flag << 32 | value;
    };
    if (warp == 0 && lane == 0) publish(tile == 0 ? kPrefix : kSum, sum);
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      const std::uint32_t r = kPacked ? rank[k / 2] >> (k % 2 * 16) & 0xffff : rank[k];
      float* to = kept + before_warp + r;
      if (v[k].x > 0) *to++ = v[k].x;
      if (v[k].y > 0) *to++ = v[k].y;
      if (v[k].z > 0) *to++ = v[k].z;
      if (v[k].w > 0) *to++ = v[k].w;
    }
    if (next < tiles) load_rows<kRows, kTile, kLoad>(v, in, n, next, warp, lane);
    if (warp == 0) {
      const std::uint32_t prefix = look_back(status, tile, lane);
      if (lane == 0) {
        if (tile != 0) publish(kPrefix, prefix + sum);
        if (tile == tiles - 1) *count = prefix + sum;
        before_tile = prefix;
      }
    }
    __syncthreads();
    const int shift = static_cast<int>(before_tile % 32);
    float* to = out + before_tile;
    for (int i = static_cast<int>(threadIdx.x) - shift; i < static_cast<int>(sum); i += kThreads)
      if (i >= 0) __stcs(to + i, kept[i]);
    tile = next;
  }
}

// The same tensors. As above, but the next tiles travel to shared memory by asynchronous copies: kStages tiles of space,
// kStages - 1 under way. A tile's elements are compacted in place.
template <int kThreads, int kRows, int kBlocks, int kStages>
__global__ void __launch_bounds__(kThreads, kBlocks)
    next_in_shared(const float* in, float* out, std::uint32_t* count, std::size_t n, unsigned* ticket,
                   std::uint64_t* status, int tiles) {
  constexpr int kWarps = kThreads / 32, kTile = kWarps * kRows * kRow;
  extern __shared__ float space[];  // kStages x kTile
  __shared__ int drawn[2];
  __shared__ std::uint32_t of_warp[kWarps], before_tile;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int own_first = warp * (kRows * kRow) + lane * 4;
  auto fetch = [&](int tile, int stage) {
    if (std::size_t(tile + 1) * kTile <= n) {
#pragma unroll
      for (int k = 0; k < kRows; ++k)
        __pipeline_memcpy_async(space + stage * kTile + own_first + k * kRow,
                                in + std::size_t(tile) * kTile + own_first + k * kRow, 16);
    } else if (tile < tiles) {
      for (int k = 0; k < kRows; ++k)
        for (int j = 0; j < 4; ++j) {
          const std::size_t i = std::size_t(tile) * kTile + own_first + k * kRow + j;
          space[stage * kTile + own_first + k * kRow + j] = i < n ? in[i] : 0;
        }
    }
    __pipeline_commit();
  };
  int queue[kStages];  // tiles drawn, the current one first
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) {
    if (threadIdx.x == 0) drawn[s % 2] = static_cast<int>(atomicAdd(ticket, 1));
    __syncthreads();
    queue[s] = drawn[s % 2];
    fetch(queue[s], s);
  }
  __syncthreads();
  for (int turn = 0; queue[0] < tiles; ++turn) {
    const int stage = turn % kStages, tile = queue[0];
    float* kept = space + stage * kTile;
    if (threadIdx.x == 0) drawn[0] = static_cast<int>(atomicAdd(ticket, 1));
    __pipeline_wait_prior(kStages - 2);
    float4 v[kRows];
    const unsigned lower = (1u << lane) - 1;
    std::uint32_t rank[kRows], total = 0;
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      v[k] = *reinterpret_cast<const float4*>(kept + own_first + k * kRow);
      const unsigned x = __ballot_sync(kWarp, v[k].x > 0), y = __ballot_sync(kWarp, v[k].y > 0);
      const unsigned z = __ballot_sync(kWarp, v[k].z > 0), w = __ballot_sync(kWarp, v[k].w > 0);
      rank[k] = total + __popc(x & lower) + __popc(y & lower) + __popc(z & lower) + __popc(w & lower);
      total += __popc(x) + __popc(y) + __popc(z) + __popc(w);
    }
    if (lane == 0) of_warp[warp] = total;
    __syncthreads();  // every row is read; the previous tile is stored
    const int next = drawn[0];
    fetch(next, (turn + kStages - 1) % kStages);
    const std::uint32_t own = lane < kWarps ? of_warp[lane] : 0;
    const std::uint32_t sum = warp_sum(own), before_warp = warp_sum(lane < warp ? own : 0);
    auto publish = [&](std::uint64_t flag, std::uint32_t value) {
      *static_cast<volatile std::uint64_t*>(status + tile) = flag << 32 | value;
    };
    if (warp == 0 && lane == 0) publish(tile == 0 ? kPrefix : kSum, sum);
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      float* to = kept + before_warp + rank[k];
      if (v[k].x > 0) *to++ = v[k].x;
      if (v[k].y > 0) *to++ = v[k].y;
      if (v[k].z > 0) *to++ = v[k].z;
      if (v[k].w > 0) *to++ = v[k].w;
    }
    if (warp == 0) {
      const std::uint32_t prefix = look_back(status, tile, lane);
      if (lane == 0) {
        if (tile != 0) publish(kPrefix, prefix + sum);
        if (tile == tiles - 1) *count = prefix + sum;
        before_tile = prefix;
      }
    }
    __syncthreads();
    const int shift = static_cast<int>(before_tile % 32);
    float* to = out + before_tile;
    for (int i = static_cast<int>(threadIdx.x) - shift; i < static_cast<int>(sum); i += kThreads)
      if (i >= 0) __stcs(to + i, kept[i]);
#pragma unroll
    for (int s = 0; s + 2 < kStages; ++s) queue[s] = queue[s + 1];
    queue[kStages - 2] = next;
  }
}

// Uniform values from -0.5 to 0.5; one in 16 is zero, as in the data of the judge.
__global__ void fill(float* x, std::size_t n) {
  for (std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; i < n;
       i += std::size_t(gridDim.x) * blockDim.x) {
    std::uint64_t z = (i + 1) * 0x9E3779B97F4A7C15ull;  // splitmix64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    x[i] = z >> 60 == 0 ? 0.0f : static_cast<float>(static_cast<std::uint32_t>(z)) / 4294967296.0f - 0.5f;
  }
}

__global__ void count_differences(const float* a, const float* b, std::size_t n, unsigned* different) {
  for (std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; i < n;
       i += std::size_t(gridDim.x) * blockDim.x)
    if (a[i] != b[i]) atomicAdd(different, 1);
}

struct Positive {
  __device__ bool operator()(float x) const { return x > 0; }
};

float *in, *out, *want;
std::uint32_t* count;  // and the number of differences
void* workspace;
constexpr std::size_t kWorkspace = std::size_t(64) << 20;
std::size_t n;
bool plant;

struct Variant {
  std::string name;
  std::function<void()> run;
  std::vector<float> us = {};
};
std::vector<Variant> variants;

template <int kThreads, int kRows, int kBlocks = 0, Load kLoad = streaming, bool kPacked = false>
void add(const char* more = "") {
  auto kernel = variant<kThreads, kRows, kBlocks, kLoad, kPacked>;
  constexpr int tile = kThreads * kRows * 4, bytes = tile * 4;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  cudaFuncAttributes a;
  cudaFuncGetAttributes(&a, kernel);
  const bool planted = plant && kThreads == 256 && kRows == 14 && kBlocks == 0;
  char name[160];
  std::snprintf(name, sizeof name, "threads %d rows %d blocks %d%s: %d registers, %zu local", kThreads, kRows, kBlocks,
                more, a.numRegs, a.localSizeBytes);
  variants.push_back({name, [kernel, planted] {
                        const std::size_t tiles = (n + tile - 1) / tile;
                        auto* status = static_cast<std::uint64_t*>(workspace);
                        cudaMemsetAsync(status, 0, (tiles + 1) * sizeof(std::uint64_t));
                        kernel<<<static_cast<unsigned>(tiles), kThreads, bytes>>>(
                            in, out, count, n, static_cast<unsigned*>(workspace), status + 1, planted);
                      }});
}

// Blocks that take tile after tile: as many as run at once.
template <int kThreads, int kRows, typename Kernel>
void add_persistent(const char* what, Kernel kernel, int stages) {
  constexpr int tile = kThreads * kRows * 4;
  const int bytes = tile * 4 * stages;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  cudaFuncAttributes a;
  cudaFuncGetAttributes(&a, kernel);
  int of_sm = 0, sms = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_sm, kernel, kThreads, bytes);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  char name[160];
  std::snprintf(name, sizeof name, "%s threads %d rows %d blocks an SM %d: %d registers, %zu local", what, kThreads,
                kRows, of_sm, a.numRegs, a.localSizeBytes);
  variants.push_back({name, [kernel, bytes, of_sm, sms] {
                        const std::size_t tiles = (n + tile - 1) / tile;
                        auto* status = static_cast<std::uint64_t*>(workspace);
                        cudaMemsetAsync(status, 0, (tiles + 1) * sizeof(std::uint64_t));
                        kernel<<<std::min<unsigned>(tiles, of_sm * sms), kThreads, bytes>>>(
                            in, out, count, n, static_cast<unsigned*>(workspace), status + 1, static_cast<int>(tiles));
                      }});
}

template <int kThreads, int kRows, int kBlocks = 0, Load kLoad = streaming, bool kPacked = false>
void add_registers(const char* what = "registers") {
  add_persistent<kThreads, kRows>(what, next_in_registers<kThreads, kRows, kBlocks, kLoad, kPacked>, 1);
}

template <int kThreads, int kRows, int kBlocks, int kStages>
void add_shared(const char* what) {
  add_persistent<kThreads, kRows>(what, next_in_shared<kThreads, kRows, kBlocks, kStages>, kStages);
}

int main(int argc, char** argv) {
  plant = argc > 1 && std::strcmp(argv[1], "--plant") == 0;
  const std::size_t most = std::size_t(1) << 28;
  cudaMalloc(&in, most * 4);
  cudaMalloc(&out, most * 4);
  cudaMalloc(&want, most * 4);
  cudaMalloc(&count, 8);
  cudaMalloc(&workspace, kWorkspace);
  variants.push_back({"cub", [] {
                        std::size_t bytes = kWorkspace;
                        cub::DeviceSelect::If(workspace, bytes, in, out, count, n, Positive{});
                      }});
  variants.push_back({"solution", [] { compact(in, out, count, n, workspace, kWorkspace, nullptr); }});
  add<256, 16>();
  add<256, 14>();
  add<256, 16, 0, last_use>(" __ldlu");
  add_registers<256, 16>();
  add_registers<256, 14>();
  add_registers<512, 8, 2>();
  add_registers<512, 12, 1>();
  add_registers<512, 14, 1>();
  add_registers<512, 15, 1>();
  add_registers<512, 16, 1>();
  add_registers<512, 17, 1>();
  add_registers<512, 16, 1, last_use>("registers __ldlu");
  add_registers<512, 16, 1, read_only>("registers __ldg");
  add_registers<512, 16, 1, streaming, true>("registers packed");
  add_registers<512, 18, 1, streaming, true>("registers packed");
  add_registers<640, 12, 1>();
  add_registers<640, 14, 1, streaming, true>("registers packed");
  add_registers<768, 8, 1>();
  add_registers<768, 10, 1>();
  add_registers<768, 11, 1, streaming, true>("registers packed");
  add_registers<1024, 8, 1>();
  add_registers<1024, 8, 1, streaming, true>("registers packed");
  add_registers<1024, 6, 1>();
  add_registers<384, 20, 1>();
  add_registers<384, 24, 1>();
  add_registers<256, 32, 1>();
  add_registers<384, 10, 2>();
  add_shared<256, 8, 3, 2>("shared 2");
  add_shared<256, 8, 2, 3>("shared 3");
  add_shared<512, 6, 2, 2>("shared 2");
  add_shared<512, 8, 1, 3>("shared 3");
  cudaEvent_t a, b;
  cudaEventCreate(&a);
  cudaEventCreate(&b);
  bool wrong = false;
  for (std::size_t size : {most, std::size_t(138412032), std::size_t(69206017)}) {
    n = size;
    fill<<<2048, 256>>>(in, n);
    variants[0].run();
    std::uint32_t kept, got[2];
    cudaMemcpy(&kept, count, 4, cudaMemcpyDefault);
    cudaMemcpy(want, out, std::size_t(4) * kept, cudaMemcpyDefault);
    for (auto& v : variants) {
      cudaMemset(out, 0, std::size_t(4) * kept);
      cudaMemset(count, 0, 8);
      v.run();
      count_differences<<<1024, 256>>>(out, want, kept, count + 1);
      cudaMemcpy(got, count, 8, cudaMemcpyDefault);
      const cudaError_t error = cudaGetLastError();
      if (got[0] == kept && got[1] == 0 && error == cudaSuccess) continue;
      std::printf("WRONG %s: %u kept of %u, %u differ, %s\n", v.name.c_str(), got[0], kept, got[1],
                  cudaGetErrorString(error));
      wrong = true;
    }
    for (auto& v : variants) v.us.clear();
    for (int turn = 0; turn < 25; ++turn)
      for (auto& v : variants) {
        v.run();
        cudaEventRecord(a);
        for (int i = 0; i < 5; ++i) v.run();
        cudaEventRecord(b);
        cudaEventSynchronize(b);
        float ms;
        cudaEventElapsedTime(&ms, a, b);
        v.us.push_back(ms * 200);
      }
    for (auto& v : variants) {
      std::vector<float> us = v.us, ratio;
      for (std::size_t t = 0; t < us.size(); ++t) ratio.push_back(variants[0].us[t] / v.us[t]);
      std::sort(us.begin(), us.end());
      std::sort(ratio.begin(), ratio.end());
      std::printf("%zu %-70s %8.1f us ratio %.3f (%.3f to %.3f)\n", n, v.name.c_str(), us[12], ratio[12], ratio[6],
                  ratio[18]);
    }
  }
  return wrong ? 1 : 0;
}
