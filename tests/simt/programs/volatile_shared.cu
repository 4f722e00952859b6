// Dynamic shared memory that is volatile: the words in front of its type come in any order.
#include <cstdio>

__global__ void turned(int* out) {
  extern volatile __shared__ int tile[];
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = t;
  __syncthreads();
  out[t] = tile[blockDim.x - 1 - t];
}

__global__ void doubled(int* out) {
  static volatile __shared__ int tile[32];
  volatile extern __shared__ int more[];
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = more[t] = out[t];
  __syncthreads();
  out[t] = tile[31 - t] + more[31 - t];
}

int main() {
  constexpr int n = 32;
  int* out = nullptr;
  cudaMallocManaged(&out, n * sizeof(int));
  turned<<<1, n, n * sizeof(int)>>>(out);
  doubled<<<1, n, n * sizeof(int)>>>(out);
  cudaDeviceSynchronize();
  bool right = true;
  for (int i = 0; i < n; ++i) right = right && out[i] == 2 * i;
  cudaFree(out);
  std::puts(right ? "ok" : "wrong");
  return right ? 0 : 1;
}
