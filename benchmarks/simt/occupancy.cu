// Blocks that fit on an SM, as the CUDA runtime of a GPU says, for kernels of 4 to 200 registers and more: the emulator's answers
// must be the same (test simt.time_model, which reads the recorded file).
//
//   nvcc -O3 -std=c++17 -arch=native benchmarks/simt/occupancy.cu -o occupancy && ./occupancy > benchmarks/simt/occupancy.json
//
// JSON: {"device": NAME, "triples": [[registers, shared bytes, threads of a block, blocks], ...]}
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace {

void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "occupancy: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// data: (64 N) floats. N values of a thread are live at once.
template <int N>
__global__ void live_kernel(float* data, int rounds) {
  float v[N];
#pragma unroll
  for (int i = 0; i < N; ++i) v[i] = data[threadIdx.x % 64 * N + i];
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int i = 0; i < N; ++i) v[i] = v[i] * v[(i + 1) % N] + v[(i + N / 2) % N];
#pragma unroll
  for (int i = 0; i < N; ++i) data[threadIdx.x % 64 * N + i] = v[i];
}

struct Kernel {
  const void* function;
  int registers;
};

template <int... N>
std::vector<Kernel> kernels(std::integer_sequence<int, N...>) {
  std::vector<Kernel> all = {{reinterpret_cast<const void*>(&live_kernel<4 + 5 * N>), 0}...};
  for (Kernel& k : all) {
    cudaFuncAttributes a{};
    must(cudaFuncGetAttributes(&a, k.function), "cudaFuncGetAttributes");
    must(cudaFuncSetAttribute(k.function, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448), "cudaFuncSetAttribute");
    k.registers = a.numRegs;
  }
  return all;
}

}  // namespace

int main() {
  cudaDeviceProp device{};
  must(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  std::uint64_t state = 20261128;
  auto below = [&](int n) {  // Knuth's MMIX generator
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<int>((state >> 33) % static_cast<unsigned>(n));
  };
  std::printf("{\"device\": \"%s\", \"triples\": [", device.name);
  int count = 0;
  for (const Kernel& k : kernels(std::make_integer_sequence<int, 40>()))
    for (int i = 0; i < 12; ++i) {
      const int threads = 32 * (1 + below(32)), shared = below(3) == 0 ? 0 : below(below(2) == 0 ? 16384 : 232448);
      if (k.registers * threads > 65536 || k.registers > 255) continue;  // it could not be launched
      int blocks = 0;
      must(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k.function, threads, shared), "occupancy");
      if (blocks > 0)
        std::printf("%s\n[%d, %d, %d, %d]", count++ == 0 ? "" : ",", k.registers, shared, threads, blocks);
    }
  std::printf("\n]}\n");
  std::fprintf(stderr, "occupancy: %d triples\n", count);
}
