// arch: sm_90a
// Blocks of a cluster: rank and shape, barriers, shared memory of the neighbours by pointer and by PTX address, a
// multicast, an arrival at another block's barrier, a copy from block to block.
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

__device__ inline unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ inline void wait(const void* barrier, unsigned parity) {
  asm volatile(
      "{\n"
      "  .reg .pred p;\n"
      "again:\n"
      "  mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "  @!p bra again;\n"
      "}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

// out[i]: the sum over the blocks of i's cluster of what they hold.  blocks x 64 numbers.
__global__ void __cluster_dims__(4, 1, 1) sums(int* out) {
  __shared__ int own[64];
  auto cluster = cg::this_cluster();
  own[threadIdx.x] = static_cast<int>(blockIdx.x * 100 + threadIdx.x);
  cluster.sync();
  int sum = 0;
  for (unsigned r = 0; r < cluster.num_blocks(); ++r) sum += *cluster.map_shared_rank(&own[threadIdx.x], r);
  out[blockIdx.x * 64 + threadIdx.x] = sum;
  cluster.sync();
}

// The same with PTX, in a cluster that the launch makes. Each block stores its numbers into the next one's memory.
__global__ void shift(int* out) {
  __shared__ int got[64];
  unsigned rank, count, x, remote;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(count));
  asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(x));
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(remote)
               : "r"(shared_address(&got[threadIdx.x])), "r"((rank + 1) % count));
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(remote), "r"(1000 * x + 100 * rank + threadIdx.x) : "memory");
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  out[blockIdx.x * 64 + threadIdx.x] = got[threadIdx.x];
}

// Block 0 brings a box of 16 x 64 bytes for both blocks, which say that they are ready; then each gives the other its
// half by a copy from block to block.
__global__ void __cluster_dims__(2, 1, 1) multicast(const __grid_constant__ CUtensorMap map, unsigned char* out) {
  __shared__ alignas(128) unsigned char box[16 * 64], other[512];
  __shared__ uint64_t full, ready, swapped;
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full)));
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(shared_address(&ready)));
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&swapped)));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cg::this_cluster().sync();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(shared_address(&full)) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" ::"r"(shared_address(&swapped)) : "memory");
    asm volatile(
        "{\n"
        ".reg .b32 first;\n"
        "mapa.shared::cluster.u32 first, %0, 0;\n"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [first];\n"
        "}" ::"r"(shared_address(&ready))
        : "memory");
    if (rank == 0) {
      wait(&ready, 0);
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
          "[%1, {%3, %4}], [%2], %5;" ::"r"(shared_address(box)),
          "l"(&map), "r"(shared_address(&full)), "r"(0), "r"(static_cast<int>(blockIdx.x) / 2 * 16),
          "h"(static_cast<uint16_t>(3))
          : "memory");
    }
  }
  wait(&full, 0);
  if (threadIdx.x == 0) {
    unsigned to, barrier;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared_address(other)), "r"(rank ^ 1));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(barrier) : "r"(shared_address(&swapped)), "r"(rank ^ 1));
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
        "r"(shared_address(box + 512 * rank)), "r"(512), "r"(barrier)
        : "memory");
  }
  wait(&swapped, 0);
  for (int i = static_cast<int>(threadIdx.x); i < 512; i += 64) {
    out[blockIdx.x * 1024 + i] = box[512 * rank + i];
    out[blockIdx.x * 1024 + 512 + i] = other[i];
  }
  cg::this_cluster().sync();
}

int main() {
  int wrong = 0;
  const int blocks = 12;
  int* out;
  cudaMalloc(&out, blocks * 64 * sizeof(int));
  std::vector<int> host(blocks * 64);
  auto get = [&] {
    if (const cudaError_t error = cudaDeviceSynchronize()) std::puts(cudaGetErrorString(error));
    cudaMemcpy(host.data(), out, host.size() * sizeof(int), cudaMemcpyDeviceToHost);
  };
  sums<<<blocks, 64>>>(out);
  get();
  for (int b = 0; b < blocks; ++b)
    for (int t = 0; t < 64; ++t) wrong += host[b * 64 + t] != 4 * t + 100 * (4 * (b / 4 * 4) + 6);

  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(64);
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 3;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  if (const cudaError_t error = cudaLaunchKernelEx(&config, shift, out)) std::puts(cudaGetErrorString(error));
  get();
  for (int b = 0; b < blocks; ++b)
    for (int t = 0; t < 64; ++t) wrong += host[b * 64 + t] != 1000 * (b / 3) + 100 * ((b % 3 + 2) % 3) + t;
  config.gridDim = dim3(blocks + 1);
  wrong += cudaLaunchKernelEx(&config, shift, out) == cudaSuccess;
  (void)cudaGetLastError();

  unsigned char *bytes, *result;
  cudaMalloc(&bytes, 64 * 64);
  cudaMalloc(&result, 8 * 1024);
  std::vector<unsigned char> in(64 * 64), back(8 * 1024);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<unsigned char>(i * 7 + i / 64);
  cudaMemcpy(bytes, in.data(), in.size(), cudaMemcpyHostToDevice);
  CUtensorMap map{};
  const cuuint64_t size[] = {64, 64}, pitch[] = {64};
  const cuuint32_t box[] = {64, 16}, step[] = {1, 1};
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
  if (reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function)(
          &map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, bytes, size, pitch, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
          CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
          CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
    ++wrong;
  multicast<<<8, 64>>>(map, result);
  if (const cudaError_t error = cudaDeviceSynchronize()) std::puts(cudaGetErrorString(error));
  cudaMemcpy(back.data(), result, back.size(), cudaMemcpyDeviceToHost);
  for (int b = 0; b < 8; ++b)
    for (int i = 0; i < 1024; ++i) {
      const int half = i < 512 ? b % 2 : 1 - b % 2;
      wrong += back[b * 1024 + i] != in[static_cast<std::size_t>(b / 2 * 1024 + half * 512 + i % 512)];
    }
  cudaFree(out), cudaFree(bytes), cudaFree(result);
  std::puts(wrong == 0 ? "ok" : "wrong");
  return wrong != 0;
}
