// Lab 11's walk (four lanes a walk, float4) and its scalar form, over the bytes that an SM has in flight: shared memory that nobody
// uses limits the resident warps. On a GPU the times are measured, on the emulator they are virtual.
//
//   nvcc -O3 -std=c++17 -arch=native benchmarks/simt/in_flight.cu -o in_flight && ./in_flight > in_flight_gpu.json
//   ./ridge cc benchmarks/simt/in_flight.cu -o in_flight && ./in_flight > in_flight_emulator.json
//
// JSON: {"device": NAME, "points": [{"lanes": 4, "warps": 17, "bytes": in flight on an SM, "seconds": S}, ...]}
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kNodes = 1 << 20, kHops = 16, kRow = 16, kBlock = 32;

void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "in_flight: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// next: (kNodes); rows: (kNodes, kRow); starts: (walks); sums: (walks, kRow).
__global__ void vector_kernel(const int* next, const float4* rows, const int* starts, float4* sums, int walks) {
  const int thread = blockIdx.x * kBlock + threadIdx.x, w = thread / 4, lane = thread % 4;
  if (w >= walks) return;
  float4 sum = make_float4(0, 0, 0, 0);
  int node = starts[w];
  for (int hop = 0; hop < kHops; ++hop) {
    const int then = next[node];
    const float4 row = rows[static_cast<std::size_t>(node) * 4 + lane];
    sum.x += row.x, sum.y += row.y, sum.z += row.z, sum.w += row.w;
    node = then;
  }
  sums[static_cast<std::size_t>(w) * 4 + lane] = sum;
}

// The same; 16 lanes a walk, a float each.
__global__ void scalar_kernel(const int* next, const float* rows, const int* starts, float* sums, int walks) {
  const int thread = blockIdx.x * kBlock + threadIdx.x, w = thread / kRow, lane = thread % kRow;
  if (w >= walks) return;
  float sum = 0;
  int node = starts[w];
  for (int hop = 0; hop < kHops; ++hop) {
    const int then = next[node];
    sum += rows[static_cast<std::size_t>(node) * kRow + lane];
    node = then;
  }
  sums[static_cast<std::size_t>(w) * kRow + lane] = sum;
}

template <class T>
T* array_of(std::size_t n) {
  T* p = nullptr;
  must(cudaMalloc(&p, n * sizeof(T)), "cudaMalloc");
  must(cudaMemset(p, 0, n * sizeof(T)), "cudaMemset");
  return p;
}

}  // namespace

int main() {
  cudaDeviceProp device{};
  must(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
#ifdef RIDGE_SIMT
  const int times = 1;  // virtual time is the same each time
#else
  const int times = 7;
#endif
  const int walks = 1 << 16;
  std::vector<int> host(kNodes);
  std::uint64_t state = 7;
  for (int& n : host) state = state * 6364136223846793005ull + 1442695040888963407ull, n = state >> 33 & (kNodes - 1);
  int *next = array_of<int>(kNodes), *starts = array_of<int>(walks);
  float *rows = array_of<float>(std::size_t{kNodes} * kRow), *sums = array_of<float>(std::size_t(walks) * kRow);
  must(cudaMemcpy(next, host.data(), kNodes * sizeof(int), cudaMemcpyHostToDevice), "cudaMemcpy");
  must(cudaMemcpy(starts, host.data(), std::min(walks, kNodes) * sizeof(int), cudaMemcpyHostToDevice), "cudaMemcpy");
  cudaEvent_t begin, end;
  must(cudaEventCreate(&begin), "cudaEventCreate");
  must(cudaEventCreate(&end), "cudaEventCreate");
  std::printf("{\"device\": \"%s\", \"walks\": %d, \"points\": [", device.name, walks);
  bool first = true;
  for (const int lanes : {4, 16}) {
    const void* function =
        lanes == 4 ? reinterpret_cast<const void*>(&vector_kernel) : reinterpret_cast<const void*>(&scalar_kernel);
    must(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448), "cudaFuncSetAttribute");
    for (const int wanted : {1, 2, 4, 8, 12, 16, 24, 32}) {
      const int shared = 233472 / wanted / 128 * 128 - 1024, blocks = (walks * lanes + kBlock - 1) / kBlock;
      std::vector<double> seconds;
      for (int k = 0; k <= times; ++k) {  // the first one fills L2
        must(cudaEventRecord(begin), "cudaEventRecord");
        if (lanes == 4)
          vector_kernel<<<blocks, kBlock, shared>>>(next, reinterpret_cast<const float4*>(rows), starts,
                                                    reinterpret_cast<float4*>(sums), walks);
        else
          scalar_kernel<<<blocks, kBlock, shared>>>(next, rows, starts, sums, walks);
        must(cudaGetLastError(), "launch");
        must(cudaEventRecord(end), "cudaEventRecord");
        must(cudaEventSynchronize(end), "kernel");
        float ms = 0;
        must(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
        if (k > 0) seconds.push_back(ms * 1e-3);
      }
      std::sort(seconds.begin(), seconds.end());
      int resident = 0;
      must(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, function, kBlock, shared), "occupancy");
      std::printf("%s\n{\"lanes\": %d, \"warps\": %d, \"bytes\": %d, \"seconds\": %.4g, \"bytes_per_second\": %.4g}",
                  first ? "" : ",", lanes, resident, resident * 32 * (lanes == 4 ? 16 : 4), seconds[seconds.size() / 2],
                  64.0 * walks * kHops / seconds[seconds.size() / 2]);
      first = false;
    }
  }
  std::printf("\n]}\n");
}
