// Contract of lab 05. Each task is one host function. Here the host matters: what it issues, where, and when it waits.
//
// Everything must have ended, or be ordered before the end of `stream`, when the function returns: the judge waits for the
// whole device. Streams, events, graphs and page-locked memory may be made once and kept (function-local static); what a
// call makes and no later call uses must be freed. `workspace` is device memory, undefined at each call.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>

// What the kernel of `pipeline` computes for each element: rounds of a damped oscillation.
constexpr float kDamping = -0.9997f, kForce = 0.5f;
__host__ __device__ inline float oscillate(float x, int rounds) {
#pragma unroll 16
  for (int k = 0; k < rounds; ++k) x = kDamping * x + kForce;
  return x;
}

// Upload from ordinary (pageable) memory: out[i] = 0.5 in[i] + 1.
//   in         n floats in memory of the host, as malloc gives it
//   out        n floats on the device; n >= 1
//   workspace  n floats
void upload(const float* in, float* out, std::size_t n, void* workspace, std::size_t workspace_bytes,
            cudaStream_t stream);

// There and back: out[i] = oscillate(in[i], rounds). The kernel is given in pipeline.cu: all its rounds are to be done.
//   in, out    n floats in page-locked memory of the host; kernels shall not touch them
//   workspace  2 n floats
void pipeline(const float* in, float* out, std::size_t n, int rounds, void* workspace, std::size_t workspace_bytes,
              cudaStream_t stream);

// A fork and a join. p = prepare(in); branch b makes q_b = refine(refine(p, b), b) for b = 0 ... kBranches - 1;
// out = sum of the q_b, modulo 2^32. The three kernels are given in fork_join.cu.
//   in, out    n numbers on the device; 1 <= n <= 65536
//   workspace  (1 + 2 kBranches) n numbers
constexpr int kBranches = 4;
constexpr int kRounds = 4096;
__host__ __device__ inline unsigned refine(unsigned v, int branch) {
  for (int k = 0; k < kRounds; ++k) {
    v = v * 1664525u + 1013904223u + static_cast<unsigned>(branch);
    v ^= v >> 13;
  }
  return v;
}
void fork_join(const unsigned* in, unsigned* out, int n, void* workspace, std::size_t workspace_bytes,
               cudaStream_t stream);

// A network that is run step by step, each step on the last one's answer: x_0 = start, and for t = 0 ... steps - 1
//   h = x_t;  for each layer l: h = act(W_l h);  out[t] = h;  x_(t+1) = 0.5 h + position(t)
// with act(v) = v / (1 + |v|) and position(t)[i] = 0.25 if (i + t) is divisible by 3, else -0.125. The kernels are given in
// decode.cu.
//   weights    layers x dim x dim floats, row-major: (W h)[r] = sum over c of W[r][c] h[c]
//   start      dim floats
//   out        steps x dim floats; all sizes >= 1, dim <= 1024
//   workspace  3 dim floats
void decode(const float* weights, const float* start, float* out, int layers, int dim, int steps, void* workspace,
            std::size_t workspace_bytes, cudaStream_t stream);
