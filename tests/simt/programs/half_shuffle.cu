// Shuffles of fp16 and bf16, one number or a pair, of every width.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "check.hpp"

constexpr unsigned kAll = 0xffffffff;

struct Sums {
  float h[32], b[32], h_low[32], h_high[32], b_low[32], b_high[32];
};

// Sums over the `width` lanes of a segment.
__global__ void sums(Sums* out, int width) {
  int l = threadIdx.x;
  half h = __float2half((float)l);
  half2 h2 = __floats2half2_rn((float)l, 2.0f * l);
  __nv_bfloat16 b = __float2bfloat16(1.0f);
  __nv_bfloat162 b2 = __floats2bfloat162_rn(1.0f, 0.5f);
  for (int d = width / 2; d > 0; d /= 2) {
    h = __hadd(h, __shfl_xor_sync(kAll, h, d, width));
    h2 = __hadd2(h2, __shfl_xor_sync(kAll, h2, d, width));
    b = __hadd(b, __shfl_xor_sync(kAll, b, d, width));
    b2 = __hadd2(b2, __shfl_xor_sync(kAll, b2, d, width));
  }
  out->h[l] = __half2float(h);
  out->b[l] = __bfloat162float(b);
  out->h_low[l] = __low2float(h2);
  out->h_high[l] = __high2float(h2);
  out->b_low[l] = __low2float(b2);
  out->b_high[l] = __high2float(b2);
}

// out[kind][lane], of the lane's own number
__global__ void moves(float (*out)[32], int width) {
  int l = threadIdx.x;
  half h = __float2half((float)l);
  half2 h2 = __floats2half2_rn((float)l, -(float)l);
  __nv_bfloat16 b = __float2bfloat16((float)l);
  __nv_bfloat162 b2 = __floats2bfloat162_rn((float)l, -(float)l);
  out[0][l] = __half2float(__shfl_sync(kAll, h, 1, width));
  out[1][l] = __half2float(__shfl_up_sync(kAll, h, 1, width));
  out[2][l] = __half2float(__shfl_down_sync(kAll, h, 1, width));
  out[3][l] = -__high2float(__shfl_sync(kAll, h2, 1, width));
  out[4][l] = -__high2float(__shfl_up_sync(kAll, h2, 1, width));
  out[5][l] = -__high2float(__shfl_down_sync(kAll, h2, 1, width));
  out[6][l] = __bfloat162float(__shfl_sync(kAll, b, 1, width));
  out[7][l] = __bfloat162float(__shfl_up_sync(kAll, b, 1, width));
  out[8][l] = __bfloat162float(__shfl_down_sync(kAll, b, 1, width));
  out[9][l] = -__high2float(__shfl_sync(kAll, b2, 1, width));
  out[10][l] = -__high2float(__shfl_up_sync(kAll, b2, 1, width));
  out[11][l] = -__high2float(__shfl_down_sync(kAll, b2, 1, width));
}

int main() {
  Sums* s;
  float(*m)[32];
  cudaMallocManaged(&s, sizeof *s);
  cudaMallocManaged(&m, 12 * sizeof *m);
  for (int width = 1; width <= 32; width *= 2) {
    sums<<<1, 32>>>(s, width);
    moves<<<1, 32>>>(m, width);
    expect_error(cudaDeviceSynchronize(), cudaSuccess, "the kernels");
    for (int l = 0; l < 32; ++l) {
      int first = l / width * width, last = first + width - 1;
      float ranks = (first + last) * width / 2.0f;
      expect(s->h[l] == ranks && s->h_low[l] == ranks && s->h_high[l] == 2 * ranks, "sums of fp16");
      expect(s->b[l] == width && s->b_low[l] == width && s->b_high[l] == width / 2.0f, "sums of bf16");
      for (int k = 0; k < 12; k += 3) {
        expect(m[k][l] == first + 1 % width, "__shfl_sync");
        expect(m[k + 1][l] == (l == first ? l : l - 1), "__shfl_up_sync");
        expect(m[k + 2][l] == (l == last ? l : l + 1), "__shfl_down_sync");
      }
    }
  }
  cudaFree(s);
  cudaFree(m);
  std::puts("ok");
}
