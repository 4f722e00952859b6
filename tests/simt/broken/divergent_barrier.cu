// expects: divergent barrier at 7, cudaErrorLaunchFailure
// Half a block waits at one barrier, the other half at another.
// says: thread (32,0,0) waits at __syncthreads() (divergent_barrier.cu:9), thread (6,0,0) waits at __syncthreads() (divergent_barrier.cu:7): all threads of a block must come to the same barrier (a GPU may let this pass, and CUDA leaves open what follows; compute-sanitizer --tool synccheck reports it too)
__global__ void step(int* data) {
  if (threadIdx.x < 32) {
    data[threadIdx.x] = 1;
    __syncthreads();
  } else {
    __syncthreads();
  }
}

int main() {
  int* data;
  cudaMalloc(&data, 100 * sizeof(int));
  step<<<1, 64>>>(data);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
