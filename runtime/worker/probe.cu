// A small submission that is right. Where this one does not build either, the compiler of the machine is broken, and no
// submission is at fault (grader/build/machine_fault.cpp).
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "lab/call.hpp"

struct Pair {
  float first, second;
};

// x: 32 elements. Shared and local arrays, a switch, a copy, a way out, a print.
__global__ void probe(float* x, int n) {
  __shared__ float tile[32];
  float local[8];
  for (int i = 0; i < 8; ++i) local[i] = static_cast<float>(i * n);
  tile[threadIdx.x] = x[threadIdx.x] + local[n & 7];
  __syncthreads();
  Pair pair, other;
  switch (n) {
    case 0:
      pair = {1, 2};
      break;
    case 1:
      pair = {3, tile[1]};
      break;
    case 2:
      pair = {tile[2], 6};
      break;
    case 3:
      pair = {7, 8};
      break;
    case 4:
      pair = {tile[4], tile[5]};
      break;
    default:
      pair = {11, 12};
  }
  std::memcpy(&other, &pair, sizeof pair);
  if (n > 100) printf("%d\n", n);
  x[threadIdx.x] = tile[31 - threadIdx.x] + other.second;
}

bool ridge_entry(const ridge_call&) {
  std::vector<std::string> words = {"a", std::to_string(2)};
  std::thread([&] { words.push_back("c"); }).join();
  probe<<<1, 32>>>(static_cast<float*>(nullptr), static_cast<int>(words.size()));
  return true;
}
