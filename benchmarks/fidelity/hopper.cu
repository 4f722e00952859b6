// arch: sm_90a
// TMA, mbarriers, clusters and wgmma: bulk copies of all ranks, swizzles and element sizes, at the edges of a tensor and
// inside; multicasts; rings of stages; products in each type, with both factors in shared memory and with one in
// registers; stmatrix. Each kernel's result is checked.
#include <cooperative_groups.h>

#include "hopper.cuh"

namespace cg = cooperative_groups;

constexpr int kThreads = 128;
extern __shared__ __align__(1024) unsigned char tile[];

// Block b brings the box at (b * step + x0, y0) and adds up its 4-byte words. out: one number a block.
__device__ void add_up(unsigned bytes, unsigned* out) {
  __shared__ unsigned sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  unsigned own = 0;
  for (unsigned i = threadIdx.x; i < bytes / 4; i += kThreads) own += reinterpret_cast<unsigned*>(tile)[i];
  atomicAdd(&sum, own);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

#define BRING(load)               \
  __shared__ uint64_t full;       \
  if (threadIdx.x == 0) {         \
    barrier_init(&full, 1);       \
    barrier_expect(&full, bytes); \
    load;                         \
  }                               \
  __syncthreads();                \
  barrier_wait(&full, 0);         \
  add_up(bytes, out)

__global__ void tma_load_1d(const __grid_constant__ CUtensorMap map, int x0, int step, unsigned bytes, unsigned* out) {
  BRING(load_1d(tile, &map, &full, x0 + static_cast<int>(blockIdx.x) * step));
}
__global__ void tma_load_2d(const __grid_constant__ CUtensorMap map, int x0, int step, int y0, unsigned bytes,
                            unsigned* out) {
  BRING(load_2d(tile, &map, &full, x0 + static_cast<int>(blockIdx.x) * step, y0));
}
__global__ void tma_load_3d(const __grid_constant__ CUtensorMap map, int x0, int step, int y0, unsigned bytes,
                            unsigned* out) {
  BRING(load_3d(tile, &map, &full, x0, y0, static_cast<int>(blockIdx.x) * step));
}
__global__ void tma_load_5d(const __grid_constant__ CUtensorMap map, int x0, int step, int y0, unsigned bytes,
                            unsigned* out) {
  BRING(load_5d(tile, &map, &full, x0, y0, static_cast<int>(blockIdx.x) * step));
}
__global__ void bulk_load(const unsigned char* in, unsigned bytes, unsigned* out) {
  BRING(load_bulk(tile, in + static_cast<std::size_t>(blockIdx.x) * bytes, bytes, &full));
}

// The blocks of a cluster get one box each time: block 0 brings it for all. out: one number a block.
__device__ void multicast(const CUtensorMap* map, unsigned bytes, unsigned* out) {
  __shared__ uint64_t full;
  auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    barrier_init(&full, 1);
    barrier_expect(&full, bytes);
  }
  cluster.sync();
  const int number = static_cast<int>(blockIdx.x / cluster.num_blocks());
  if (threadIdx.x == 0 && cluster.block_rank() == 0)
    load_2d_multicast(tile, map, &full, 0, number * 64, static_cast<unsigned short>((1 << cluster.num_blocks()) - 1));
  barrier_wait(&full, 0);
  add_up(bytes, out);
  cluster.sync();
}
__global__ void __cluster_dims__(2, 1, 1)
    tma_multicast_2(const __grid_constant__ CUtensorMap map, unsigned bytes, unsigned* out) {
  multicast(&map, bytes, out);
}
__global__ void __cluster_dims__(4, 1, 1)
    tma_multicast_4(const __grid_constant__ CUtensorMap map, unsigned bytes, unsigned* out) {
  multicast(&map, bytes, out);
}

// Block b stores a box of ones at (x0 + b * step, y0), or adds it to what is there.
#define LEAVE(store)                                                                                     \
  for (unsigned i = threadIdx.x; i < bytes / 4; i += kThreads) reinterpret_cast<float*>(tile)[i] = 1.0f; \
  proxy_fence();                                                                                         \
  __syncthreads();                                                                                       \
  if (threadIdx.x == 0) {                                                                                \
    store;                                                                                               \
    stores_done();                                                                                       \
  }

__global__ void tma_store_2d(const __grid_constant__ CUtensorMap map, int x0, int step, int y0, unsigned bytes){
    LEAVE(store_2d(&map, tile, x0 + static_cast<int>(blockIdx.x) * step, y0))} __global__
    void tma_add_2d(const __grid_constant__ CUtensorMap map, int x0, int step, int y0,
                    unsigned bytes){LEAVE(add_2d(&map, tile, x0 + static_cast<int>(blockIdx.x) * step, y0))} __global__
    void bulk_store(float* to, unsigned bytes){
        LEAVE(store_bulk(to + static_cast<std::size_t>(blockIdx.x) * bytes / 4, tile, bytes))} __global__
    void bulk_add(float* to,
                  unsigned bytes){LEAVE(add_bulk(to + static_cast<std::size_t>(blockIdx.x) * bytes / 4, tile, bytes))}

// A ring of `stages` boxes of 128 x 32 floats: one thread brings `count` of them, the others add up what comes.
__global__
    void tma_ring(const __grid_constant__ CUtensorMap map, int count, int stages, unsigned bytes, unsigned* out) {
  __shared__ uint64_t full[8], empty[8];
  if (threadIdx.x == 0)
    for (int s = 0; s < stages; ++s) barrier_init(&full[s], 1), barrier_init(&empty[s], kThreads / 32);
  __syncthreads();
  if (threadIdx.x >= kThreads) {
    if (threadIdx.x > kThreads) return;
    for (int i = 0; i < count; ++i) {
      const int s = i % stages;
      barrier_wait(&empty[s], i / stages % 2 ^ 1);
      barrier_expect(&full[s], bytes);
      load_2d(tile + s * bytes, &map, &full[s], 0, (static_cast<int>(blockIdx.x) * count + i) * 128);
    }
    return;
  }
  unsigned own = 0;
  for (int i = 0; i < count; ++i) {
    const int s = i % stages;
    barrier_wait(&full[s], i / stages % 2);
    for (unsigned w = threadIdx.x; w < bytes / 4; w += kThreads)
      own += reinterpret_cast<unsigned*>(tile + s * bytes)[w];
    __syncwarp();
    if (threadIdx.x % 32 == 0) barrier_arrive(&empty[s]);
  }
  atomicAdd(&out[blockIdx.x], own);
}

// Both tiles, 64 x 32 bytes and 64 x 32 bytes, hold one 32-bit pattern. out: the sum of all results of the block.
__device__ void fill_tiles(unsigned pattern) {
  for (unsigned i = threadIdx.x; i < 1024; i += kThreads) reinterpret_cast<unsigned*>(tile)[i] = pattern;
  proxy_fence();
  __syncthreads();
}
template <class T, int n>
__device__ void sum_results(const T (&d)[n], T* out) {
  T sum = 0;
  for (int i = 0; i < n; ++i) sum += d[i];
  atomicAdd(out, sum);
}

#define PRODUCTS(T, n, product, pattern)                      \
  fill_tiles(pattern);                                        \
  T d[n] = {};                                                \
  const uint64_t a = tile_of(tile), b = tile_of(tile + 2048); \
  wgmma_fence();                                              \
  for (int i = 0; i < count; ++i) product;                    \
  wgmma_done();                                               \
  sum_results(d, out)

__device__ inline void bf16_n8(float (&d)[4], uint64_t a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "l"(a), "l"(b));
}
__device__ inline void bf16_n64(float (&d)[32], uint64_t a, uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
        "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
        "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
        "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "l"(a), "l"(b));
}
__device__ inline void bf16_registers_n8(float (&d)[4], unsigned pattern, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, {%4, %4, %4, %4}, %5, 1, 1, 1, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(pattern), "l"(b));
}
__device__ inline void f16_n8(float (&d)[4], uint64_t a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "l"(a), "l"(b));
}
__device__ inline void tf32_n8(float (&d)[4], uint64_t a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%0, %1, %2, %3}, %4, %5, 1, 1, 1;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "l"(a), "l"(b));
}
__device__ inline void e4m3_n8(float (&d)[4], uint64_t a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%0, %1, %2, %3}, %4, %5, 1, 1, 1;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "l"(a), "l"(b));
}
__device__ inline void s8_n8(int (&d)[4], uint64_t a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%0, %1, %2, %3}, %4, %5, 1;"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "l"(a), "l"(b));
}

// `count` products of ones. out: their sum over all results.
__global__ void wgmma_bf16_n8(int count, float* out) { PRODUCTS(float, 4, bf16_n8(d, a, b), 0x3F803F80); }
__global__ void wgmma_bf16_n64(int count, float* out) { PRODUCTS(float, 32, bf16_n64(d, a, b), 0x3F803F80); }
__global__ void wgmma_bf16_registers_n8(int count, float* out) {
  PRODUCTS(float, 4, ((void)a, bf16_registers_n8(d, 0x3F803F80, b)), 0x3F803F80);
}
__global__ void wgmma_f16_n8(int count, float* out) { PRODUCTS(float, 4, f16_n8(d, a, b), 0x3C003C00); }
__global__ void wgmma_tf32_n8(int count, float* out) { PRODUCTS(float, 4, tf32_n8(d, a, b), 0x3F800000); }
__global__ void wgmma_e4m3_n8(int count, float* out) { PRODUCTS(float, 4, e4m3_n8(d, a, b), 0x38383838); }
__global__ void wgmma_s8_n8(int count, int* out) { PRODUCTS(int, 4, s8_n8(d, a, b), 0x01010101); }

// Each warp stores four 8 x 8 matrices, rows `pitch` bytes apart, pieces of 16 bytes in order or exchanged.
__global__ void stmatrix_rows(int pitch, int swizzled, unsigned* out) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = warp * 8 + lane % 8;
  const int piece = (lane / 8) ^ (swizzled ? row % 8 : 0);
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(shared_address(tile) +
                                                                                        row * pitch + piece * 16),
               "r"(0x00010001)
               : "memory");
  __syncthreads();
  unsigned own = 0;
  for (int p = 0; p < 4; ++p)
    own += *reinterpret_cast<unsigned*>(tile + row * pitch + (p ^ (swizzled ? row % 8 : 0)) * 16);
  atomicAdd(out, lane < 8 ? own : 0);
}

__global__ void init_flush_hopper(const float* in, float* out, int n) {
  float sum = 0;
  for (int i = (blockIdx.x * blockDim.x + threadIdx.x) * 32; i < n; i += gridDim.x * blockDim.x * 32) sum += in[i];
  if (sum == 12345.0f) *out = sum;
}

namespace {

// Memory of ones, as 32-bit words, and room for results.
struct Memory {
  std::size_t words = std::size_t{1} << 22;
  unsigned* in = to_device(std::vector<unsigned>(words, 1));
  unsigned* out = device_array<unsigned>(4096);
  float* target = device_array<float>(1 << 20);

  unsigned sum_of(int blocks) {
    unsigned sum = 0;
    for (unsigned x : to_host(out, static_cast<std::size_t>(blocks))) sum += x;
    return sum;
  }
};

// What is in the tensor of a box, in 4-byte words: `blocks` boxes along x.
unsigned words_inside(const Tensor& t, int x0, int step, int y0, int blocks) {
  auto inside = [](long first, long count, long size) {
    return std::max(0L, std::min(first + count, size) - std::max(first, 0L));
  };
  unsigned long all = 0;
  for (int b = 0; b < blocks; ++b)
    all += static_cast<unsigned long>(inside(x0 + static_cast<long>(b) * step, t.box[0], static_cast<long>(t.size[0])) *
                                      inside(y0, t.box[1], static_cast<long>(t.size[1])) * t.bytes / 4);
  return static_cast<unsigned>(all);
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv, [](const float* in, float* out, int n) { init_flush_hopper<<<1056, 256>>>(in, out, n); });
  Memory m;
  auto room = [](auto* kernel) {
    must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 160 * 1024), "shared memory");
  };
  room(tma_load_2d), room(tma_ring);

  // tma_load_2d: swizzles, element sizes, edges, box sizes.
  const auto f32 = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  struct Load2d {
    Tensor t;
    int x0, step, y0;
  };
  const Load2d loads[] = {
      {{f32, {512, 96}, {32, 64}}, 0, 32, 0},
      {{f32, {512, 96}, {8, 64}, CU_TENSOR_MAP_SWIZZLE_32B}, 0, 8, 0},
      {{f32, {512, 96}, {16, 64}, CU_TENSOR_MAP_SWIZZLE_64B}, 0, 16, 0},
      {{f32, {512, 96}, {32, 64}, CU_TENSOR_MAP_SWIZZLE_128B}, 0, 32, 0},
      {{f32, {104, 40}, {32, 64}, CU_TENSOR_MAP_SWIZZLE_128B}, 0, 32, 0},  // beyond the right and the lower edge
      {{f32, {104, 40}, {32, 16}}, -8, 32, -8},                            // beyond the left and the upper edge
      {{f32, {104, 40}, {32, 16}}, 4, 36, 3},                              // rows begin inside of sectors
      {{f32, {512, 96}, {4, 8}}, 0, 4, 0},                                 // 16 bytes a row
      {{f32, {256, 256}, {64, 256}}, 0, 64, 0},                            // 64 KiB
      {{CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, {512, 96}, {64, 64}, CU_TENSOR_MAP_SWIZZLE_128B, 2}, 0, 64, 0},
      {{CU_TENSOR_MAP_DATA_TYPE_UINT8, {1024, 96}, {128, 32}, CU_TENSOR_MAP_SWIZZLE_128B, 1}, 0, 128, 0},
      {{CU_TENSOR_MAP_DATA_TYPE_FLOAT64, {256, 96}, {16, 32}, CU_TENSOR_MAP_SWIZZLE_128B, 8}, 0, 16, 0},
  };
  for (const Load2d& l : loads) {
    const CUtensorMap map = describe(m.in, l.t);
    const int blocks = 4;
    program.launch("tma_load_2d", Kind::count, [&] {
      tma_load_2d<<<blocks, kThreads, l.t.box_bytes()>>>(map, l.x0, l.step, l.y0, l.t.box_bytes(), m.out);
    });
    expect(m.sum_of(blocks) == words_inside(l.t, l.x0, l.step, l.y0, blocks), "tma_load_2d");
  }
  {
    const Tensor line{f32, {4096}, {256}}, cube{f32, {64, 24, 16}, {32, 8, 4}, CU_TENSOR_MAP_SWIZZLE_128B},
        five{f32, {64, 24, 16, 3, 2}, {32, 4, 2, 2, 1}};
    const CUtensorMap line_map = describe(m.in, line), cube_map = describe(m.in, cube), five_map = describe(m.in, five);
    program.launch("tma_load_1d", Kind::count,
                   [&] { tma_load_1d<<<4, kThreads, 1024>>>(line_map, 0, 256, 1024, m.out); });
    expect(m.sum_of(4) == 1024, "tma_load_1d");
    program.launch("tma_load_3d", Kind::count,
                   [&] { tma_load_3d<<<4, kThreads, 4096>>>(cube_map, 32, 4, 8, 4096, m.out); });
    expect(m.sum_of(4) == 4096, "tma_load_3d");
    program.launch("tma_load_5d", Kind::count,
                   [&] { tma_load_5d<<<4, kThreads, 2048>>>(five_map, 0, 2, 4, 2048, m.out); });
    expect(m.sum_of(4) == 2048, "tma_load_5d");
  }
  for (unsigned bytes : {512u, 16384u}) {
    program.launch("bulk_load", Kind::count,
                   [&] { bulk_load<<<4, kThreads, bytes>>>(reinterpret_cast<unsigned char*>(m.in), bytes, m.out); });
    expect(m.sum_of(4) == bytes, "bulk_load");
  }
  {
    const Tensor t{f32, {32, 512}, {32, 64}, CU_TENSOR_MAP_SWIZZLE_128B};
    const CUtensorMap map = describe(m.in, t);
    program.launch("tma_multicast_2", Kind::count, [&] { tma_multicast_2<<<8, kThreads, 8192>>>(map, 8192, m.out); });
    expect(m.sum_of(8) == 8 * 2048, "tma_multicast_2");
    program.launch("tma_multicast_4", Kind::count, [&] { tma_multicast_4<<<8, kThreads, 8192>>>(map, 8192, m.out); });
    expect(m.sum_of(8) == 8 * 2048, "tma_multicast_4");
  }

  // Stores and reductions.
  const Load2d stores[] = {{{f32, {128, 64}, {32, 64}}, 0, 32, 0},
                           {{f32, {128, 64}, {32, 64}, CU_TENSOR_MAP_SWIZZLE_128B}, 0, 32, 0},
                           {{f32, {104, 40}, {32, 64}, CU_TENSOR_MAP_SWIZZLE_128B}, 0, 32, 0},
                           {{f32, {104, 40}, {32, 16}}, 4, 36, 3}};
  for (const bool adds : {false, true})
    for (const Load2d& l : stores) {
      const CUtensorMap map = describe(m.target, l.t);
      const std::size_t words = l.t.all_bytes() / 4;
      must(cudaMemset(m.target, 0, words * 4), "cudaMemset");
      if (adds)
        program.launch("tma_add_2d", Kind::count,
                       [&] { tma_add_2d<<<4, kThreads, l.t.box_bytes()>>>(map, l.x0, l.step, l.y0, l.t.box_bytes()); });
      else
        program.launch("tma_store_2d", Kind::count, [&] {
          tma_store_2d<<<4, kThreads, l.t.box_bytes()>>>(map, l.x0, l.step, l.y0, l.t.box_bytes());
        });
      double sum = 0;
      for (float x : to_host(m.target, words)) sum += x;
      expect(sum == words_inside(l.t, l.x0, l.step, l.y0, 4), adds ? "tma_add_2d" : "tma_store_2d");
    }
  must(cudaMemset(m.target, 0, 8192), "cudaMemset");
  program.launch("bulk_store", Kind::count, [&] { bulk_store<<<4, kThreads, 2048>>>(m.target, 2048); });
  expect(value_at(m.target, 2047) == 1, "bulk_store");
  program.launch("bulk_add", Kind::count, [&] { bulk_add<<<4, kThreads, 2048>>>(m.target, 2048); });
  expect(value_at(m.target, 2047) == 2, "bulk_add");

  // Rings: the same copies with one, two and four stages.
  for (int stages : {1, 2, 4}) {
    const Tensor t{f32, {32, std::uint64_t{128} * 132 * 8 * 7}, {32, 128}, CU_TENSOR_MAP_SWIZZLE_128B};
    const CUtensorMap map = describe(m.in, t);
    program.launch(
        "tma_ring", Kind::time, [&] { tma_ring<<<132, kThreads + 32, stages * 16384>>>(map, 7, stages, 16384, m.out); },
        [&] { must(cudaMemset(m.out, 0, 132 * 4), "cudaMemset"); });
    expect(m.sum_of(132) == 132u * 7 * 4096, "tma_ring");
  }

  // Products of ones: 64 x n results of k each, of 4 blocks, 8 products each.
  auto product = [&](const char* name, auto* out, double n, double k, auto call) {
    must(cudaMemset(out, 0, 4), "cudaMemset");
    program.launch(name, Kind::count, call);
    expect(static_cast<double>(value_at(out, 0)) == 4 * 8 * 64 * n * k, name);
  };
  int* whole = reinterpret_cast<int*>(m.out);
  product("wgmma_bf16_n8", m.target, 8, 16, [&] { wgmma_bf16_n8<<<4, kThreads, 4096>>>(8, m.target); });
  product("wgmma_bf16_n64", m.target, 64, 16, [&] { wgmma_bf16_n64<<<4, kThreads, 4096>>>(8, m.target); });
  product("wgmma_bf16_registers_n8", m.target, 8, 16,
          [&] { wgmma_bf16_registers_n8<<<4, kThreads, 4096>>>(8, m.target); });
  product("wgmma_f16_n8", m.target, 8, 16, [&] { wgmma_f16_n8<<<4, kThreads, 4096>>>(8, m.target); });
  product("wgmma_tf32_n8", m.target, 8, 8, [&] { wgmma_tf32_n8<<<4, kThreads, 4096>>>(8, m.target); });
  product("wgmma_e4m3_n8", m.target, 8, 32, [&] { wgmma_e4m3_n8<<<4, kThreads, 4096>>>(8, m.target); });
  product("wgmma_s8_n8", whole, 8, 32, [&] { wgmma_s8_n8<<<4, kThreads, 4096>>>(8, whole); });

  const int rows[][2] = {{64, 0}, {128, 0}, {128, 1}, {80, 0}};  // pitch, swizzled
  for (const auto& r : rows) {
    must(cudaMemset(m.out, 0, 4), "cudaMemset");
    program.launch("stmatrix_rows", Kind::count, [&] { stmatrix_rows<<<4, kThreads, 4096>>>(r[0], r[1], m.out); });
    expect(value_at(m.out, 0) == 4u * 32 * 4 * 0x00010001u, "stmatrix_rows");
  }
}
