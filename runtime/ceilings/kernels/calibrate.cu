// Measures what this GPU can do. `ridge calibrate` compiles and runs it; alone:
//   nvcc -O3 -std=c++17 -arch=native calibrate.cu memory.cu compute.cu matrix.cu links.cu -o calibrate && ./calibrate
// (on Hopper with -gencode=arch=compute_90a,code=sm_90a, for the matrix instructions)
#include "measure.cuh"

__global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

int main(int argc, char**) {
  const bool quick = argc > 1;  // --quick: copies and matrix products
  Gpu gpu;
  MUST(cudaSetDevice(0));
  MUST(cudaGetDeviceProperties(&gpu.prop, 0));
  gpu.sms = gpu.prop.multiProcessorCount;
  gpu.l2 = static_cast<std::size_t>(gpu.prop.l2CacheSize);
  std::size_t total = 0;
  MUST(cudaMemGetInfo(&gpu.memory, &total));
  for (int i = 0; i < 100; ++i) spin<<<gpu.sms, 128>>>(10'000'000);  // at least 0.5 s: the clocks come up
  MUST(cudaDeviceSynchronize());
  measure_memory(gpu);
  if (!quick) measure_compute(gpu);
  if (!quick) measure_links(gpu);
  measure_matrix(gpu);  // last: it heats the GPU most
  return 0;
}
