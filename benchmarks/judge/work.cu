// The three tasks of lab 01 at grade size, over eight sets of buffers of 1 GiB each way, for ncu:
//   nvcc -O3 -std=c++20 -arch=native -I labs/01_coalescing benchmarks/judge/work.cu solutions/01_coalescing/*.cu -o work
//   ncu --clock-control none --cache-control none --csv --metrics gpu__time_duration.sum ./work
#include <cstdio>

#include "coalescing.hpp"

// p: n words that are floats from 0.5 to 1 and their negatives, as random as timing needs.
__global__ void fill(unsigned* p, std::size_t n, unsigned seed) {
  for (std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x; i < n; i += std::size_t{gridDim.x} * 256) {
    unsigned h = static_cast<unsigned>(i) * 0x9E3779B1u ^ seed;
    h = (h ^ h >> 15) * 0x85EBCA6Bu;
    p[i] = (h & 0x807FFFFFu) | 0x3F000000u;
  }
}

int main() {
  constexpr int kSets = 8, kRounds = 4, kRows = 8192, kCols = 32768;
  constexpr std::size_t n = std::size_t{kRows} * kCols;
  float *in[kSets], *out[kSets];
  for (int s = 0; s < kSets; ++s) {
    if (cudaMalloc(&in[s], n * 4) != cudaSuccess || cudaMalloc(&out[s], n * 4) != cudaSuccess) return 1;
    fill<<<4096, 256>>>(reinterpret_cast<unsigned*>(in[s]), n, static_cast<unsigned>(s));
  }
  for (int i = 0; i < kRounds * kSets; ++i) copy(in[i % kSets], out[i % kSets], n, nullptr, 0, nullptr);
  for (int i = 0; i < kRounds * kSets; ++i)
    aos_to_soa(reinterpret_cast<const Particle*>(in[i % kSets]), out[i % kSets], n / kFields, nullptr, 0, nullptr);
  for (int i = 0; i < kRounds * kSets; ++i) transpose(in[i % kSets], out[i % kSets], kRows, kCols, nullptr, 0, nullptr);
  cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}
