// Locks and flags: a lock that all lanes of a warp want, tickets, a flag within a block, blocks that hand on a number.
#include "check.hpp"

// Every thread takes the lock: the lanes of a warp go in one by one.
__global__ void locked(int* lock, volatile int* value) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *value = *value + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

// First come, first served: threads of different warps.
__global__ void tickets(unsigned* next, unsigned* serving, volatile int* value) {
  if (threadIdx.x % 32 != 0) return;
  unsigned mine = atomicAdd(next, 1u);
  while (atomicAdd(serving, 0u) != mine) __nanosleep(20);
  __threadfence();
  *value = *value * 3 % 1009 + 1;
  __threadfence();
  atomicAdd(serving, 1u);
}

// One warp waits for a number of another.
__global__ void flag_in_block(int* out) {
  __shared__ int value;
  __shared__ int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 32) {
    value = 42;
    __threadfence_block();
    atomicExch(&ready, 1);
  }
  if (threadIdx.x == 0) {
    while (atomicAdd(&ready, 0) == 0) {
    }
    __threadfence_block();
    *out = value;
  }
}

// Block b waits for the sum of block b - 1. Numbers are drawn, so that a block waits only for one that has started.
__global__ void chain(unsigned* drawn, int* sums, int* flags) {
  if (threadIdx.x != 0) return;
  unsigned b = atomicAdd(drawn, 1u);
  int before = 0;
  if (b > 0) {
    while (atomicAdd(&flags[b - 1], 0) == 0) {
    }
    __threadfence();
    before = sums[b - 1];
  }
  sums[b] = before + static_cast<int>(b) + 1;
  __threadfence();
  atomicExch(&flags[b], 1);
}

int main() {
  int *data, host[80];
  cudaMalloc(&data, sizeof host);
  auto fetch = [&] {
    expect_error(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess, "kernel");
  };
  auto clear = [&] { cudaMemset(data, 0, sizeof host); };
  auto* numbers = reinterpret_cast<unsigned*>(data);

  clear();
  locked<<<3, 64>>>(data, data + 1);
  fetch();
  expect(host[0] == 0 && host[1] == 192, "a lock");

  clear();
  tickets<<<4, 128>>>(numbers, numbers + 1, data + 2);
  fetch();
  int value = 0;
  for (int i = 0; i < 16; ++i) value = value * 3 % 1009 + 1;
  expect(host[0] == 16 && host[1] == 16 && host[2] == value, "tickets");

  clear();
  flag_in_block<<<1, 64>>>(data);
  fetch();
  expect(host[0] == 42, "a flag in a block");

  clear();
  chain<<<32, 32>>>(numbers, data + 1, data + 40);
  fetch();
  for (int b = 0; b < 32; ++b) expect(host[1 + b] == (b + 1) * (b + 2) / 2, "a chain of blocks");
  cudaFree(data);
  std::puts("ok");
}
