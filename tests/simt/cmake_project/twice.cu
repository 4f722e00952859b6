extern __device__ int doubled(int x);
namespace scratch {
extern __shared__ int values[];
}
// v: n numbers
__global__ void twice_kernel(int* v, int n) {
  if (threadIdx.x < n) scratch::values[threadIdx.x] = doubled(v[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x < n) v[threadIdx.x] = scratch::values[threadIdx.x];
}
void twice(int* v, int n) { twice_kernel<<<1, 32, 32 * sizeof(int)>>>(v, n); }
