// sanitize: memory leak at 8
// Allocated in every round, never freed.
__global__ void set(int* data) { data[threadIdx.x] = 1; }

int main() {
  for (int i = 0; i < 3; ++i) {
    int* data;
    cudaMalloc(&data, 128);
    set<<<1, 32>>>(data);
  }
  cudaDeviceSynchronize();
}
