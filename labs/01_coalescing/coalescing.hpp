// Contract of lab 01. Each task is one host function; you own the kernels behind it and how they are launched.
//
// All pointers are device pointers from the judge, at least 256-byte aligned. Work goes on `stream`; the judge waits for
// it. `workspace` is device scratch memory; this lab needs none (workspace_bytes is 0).
#pragma once
#include <cuda_runtime.h>

#include <cstddef>

// One particle, 32 bytes: exactly one sector.
struct Particle {
  float x, y, z, mass;
  float vx, vy, vz, charge;
};
constexpr int kFields = 8;

// out[i] = in[i] for i < n.
//   in, out  n floats; n >= 1, any value
void copy(const float* in, float* out, std::size_t n, void* workspace, std::size_t workspace_bytes,
          cudaStream_t stream);

// Array of structures to structure of arrays: out[f * n + i] = field f of in[i], fields in the order of the struct.
//   in   n particles
//   out  kFields x n floats
void aos_to_soa(const Particle* in, float* out, std::size_t n, void* workspace, std::size_t workspace_bytes,
                cudaStream_t stream);

// out[c * rows + r] = in[r * cols + c].
//   in   rows x cols floats, row-major
//   out  cols x rows floats, row-major; rows, cols >= 1, any value up to 65535 * 32, and
//        rows * cols < 2^31, so that an int holds every index
void transpose(const float* in, float* out, int rows, int cols, void* workspace, std::size_t workspace_bytes,
               cudaStream_t stream);

// out[i * width + c] = in[index[i] * width + c]: row i of the output is row index[i] of a table (embedding lookup).
//   in     table x width floats, row-major
//   index  rows numbers in [0, table), in any order; a row may be asked for several times, or never
//   out    rows x width floats, row-major; rows, table, width >= 1, any value
void gather(const float* in, const int* index, float* out, int table, int rows, int width, void* workspace,
            std::size_t workspace_bytes, cudaStream_t stream);
