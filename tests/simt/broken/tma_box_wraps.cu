// expects: out-of-bounds shared access of a bulk copy at 12, cudaErrorIllegalAddress
// A box of 256^4 rows: their number is a multiple of 2^32.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) unsigned char tile[1024];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) barrier_init(&full, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    barrier_expect(&full, 0);
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %3, %3, %3, %3}], "
        "[%2];" ::"r"(shared_address(tile)),
        "l"(&map), "r"(shared_address(&full)), "r"(0)
        : "memory");
  }
  barrier_wait(&full, 0);
}

int main() {
  Matrix m;
  const cuuint64_t size[] = {4, 1, 1, 1, 1}, pitch[] = {16, 16, 16, 16};
  const cuuint32_t box[] = {4, 256, 256, 256, 256}, step[] = {1, 1, 1, 1, 1};
  if (cuTensorMapEncodeTiled(&m.map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 5, m.memory, size, pitch, box, step,
                             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
    return 2;
  k<<<1, 128>>>(m.map);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
