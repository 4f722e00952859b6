// Warp operations in divergent code, each with the mask of the lanes that come to it.
#include "check.hpp"

constexpr unsigned kAll = 0xffffffff;

__device__ int sum_of(unsigned mask, int v) {
  int sum = 0;
  for (unsigned left = mask; left != 0; left &= left - 1) sum += __shfl_sync(mask, v, __ffs(left) - 1);
  return sum;
}

// The halves of a warp do different things at the same time.
__global__ void halves(int* out) {
  int l = threadIdx.x % 32, sum = l;
  if (l < 16) {
    for (int d = 8; d > 0; d /= 2) sum += __shfl_xor_sync(0x0000ffff, sum, d);
  } else {
    for (int d = 8; d > 0; d /= 2) sum = max(sum, __shfl_xor_sync(0xffff0000, sum, d, 16));
  }
  __syncwarp();
  out[threadIdx.x] = sum;
}

// Four paths of one branch, and then the whole warp again.
__global__ void paths(int* out) {
  int l = threadIdx.x;
  unsigned mask = 0x11111111u << l % 4;
  int sum = 0;
  switch (l % 4) {
    case 0:
      sum = sum_of(mask, l);
      break;
    case 1:
      sum = 1000 + sum_of(mask, l);
      break;
    case 2:
      sum = 2000 + sum_of(mask, l);
      break;
    default:
      sum = 3000 + sum_of(mask, l);
  }
  out[l] = sum + (__shfl_xor_sync(kAll, sum, 1) - sum) * 10000;
}

// Lane l makes l rounds; the mask of a round names those that still take part.
__global__ void loops(int* out) {
  int l = threadIdx.x, total = 0;
  unsigned mask = kAll;
  for (int round = 0;; ++round) {
    bool more = round < l;
    mask = __ballot_sync(mask, more);
    if (!more) break;
    total += __shfl_sync(mask, round * 32 + l, 31);
    total += __popc(mask);
  }
  __syncwarp();
  out[l] = total;
}

// `continue` and `break` between operations: odd lanes skip every second round, lanes from 24 on leave early.
__global__ void skips(int* out) {
  int l = threadIdx.x, total = 0;
  for (int round = 0; round < 10; ++round) {
    if (l >= 24 && round == 5) break;
    unsigned stay = round >= 5 ? 0x00ffffffu : kAll;
    if (l % 2 == 1 && round % 2 == 1) {
      total += __popc(__ballot_sync(stay & 0xaaaaaaaau, round >= 5));
      continue;
    }
    unsigned mask = round % 2 == 1 ? stay & 0x55555555u : stay;
    total += 100 * __popc(__ballot_sync(mask, l < 20));
  }
  out[l] = total;
}

// A function with two call sites, each in its own branch.
__global__ void calls(int* out) {
  int l = threadIdx.x;
  out[l] = l % 3 == 0 ? sum_of(0x49249249u, l) : -sum_of(~0x49249249u, l);
}

int main() {
  int *out, host[64];
  cudaMalloc(&out, sizeof host);
  cudaMemset(out, 0, sizeof host);
  auto fetch = [&] { expect_error(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess, "kernel"); };

  halves<<<1, 64>>>(out);
  fetch();
  for (int i = 0; i < 64; ++i) expect(host[i] == (i % 32 < 16 ? 120 : 31), "halves");

  paths<<<1, 32>>>(out);
  fetch();
  for (int l = 0; l < 32; ++l) {
    int own = l % 4 * 1000 + 112 + 8 * (l % 4), other = (l ^ 1) % 4 * 1000 + 112 + 8 * ((l ^ 1) % 4);
    expect(host[l] == own + (other - own) * 10000, "paths");
  }

  loops<<<1, 32>>>(out);
  fetch();
  for (int l = 0, total = 0; l < 32; ++l) {
    expect(host[l] == total, "loops");
    total += l * 32 + 31 + (31 - l);  // round l, in which lanes l + 1 to 31 take part
  }

  skips<<<1, 32>>>(out);
  fetch();
  for (int l = 0; l < 32; ++l) {
    int total = 0;
    for (int round = 0; round < (l >= 24 ? 5 : 10); ++round) {
      if (round % 2 == 0)
        total += 2000;
      else
        total += l % 2 == 0 ? 1000 : round >= 5 ? 12 : 0;
    }
    expect(host[l] == total, "skips");
  }

  calls<<<1, 32>>>(out);
  fetch();
  for (int l = 0; l < 32; ++l) expect(host[l] == (l % 3 == 0 ? 165 : -331), "calls");
  cudaFree(out);
  std::puts("ok");
}
