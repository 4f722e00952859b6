// Contract of lab 18's task `halo`: the heat equation on a mesh that several ranks share.
//
// Pointers, streams and helpers as in science.hpp. Every rank calls the function, each with its own part of the mesh.
#pragma once
#include <cuda_runtime.h>
#include <nccl.h>

#include <cstddef>

// The part of a rank: nz planes of ny lines of nx points, x the fastest. Rank r is at place (r % ranks_y, r / ranks_y) of a
// ranks_y x ranks_z arrangement: its neighbours along y are r - 1 and r + 1, along z r - ranks_y and r + ranks_y, where
// there are such. All ranks have parts of the same size.
struct Part {
  int nx, ny, nz;  // each at least 3
  int ranks_y, ranks_z;
  int steps;  // at least 1
};
__host__ __device__ inline std::size_t points_of(const Part& p) { return std::size_t(p.nx) * p.ny * p.nz; }

// A point keeps 0.3 of its heat; each of its 26 neighbours gives it some, by how many coordinates they differ in.
__host__ __device__ inline float heat_weight(int dx, int dy, int dz) {
  const int differ = (dx != 0) + (dy != 0) + (dz != 0);
  return differ == 0 ? 0.3f : differ == 1 ? 0.06f : differ == 2 ? 0.02f : 0.0125f;
}

// `steps` times: new u[z][y][x] = sum over dx, dy, dz in -1, 0, 1 of heat_weight(dx, dy, dz) * u[z + dz][y + dy][x + dx],
// over the whole mesh; points outside of it are 0. In each step a rank sends the points next to each neighbour once: along
// y a face of nx * nz points or nx * (nz + 2), along z one of nx * ny or nx * (ny + 2). The host waits for nothing.
//   in, out    points_of(part) floats
//   workspace  at least 8 (nx + 2) (ny + 2) (nz + 2) + 64 nx (ny + nz + 4) bytes
void halo(const float* in, float* out, const Part& part, int rank, void* workspace, std::size_t workspace_bytes,
          ncclComm_t comm, cudaStream_t stream);
