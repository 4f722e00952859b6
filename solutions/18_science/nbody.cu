// Lab 18, task `nbody`: all pairs in tiles, and near pairs by cells.
//
// All pairs are the one task of this lab that arithmetic limits. Near pairs are found among 27 cells, and the cells are
// kept as long as they can be. Run: ./ridge check 18 --task nbody
#include "nbody.hpp"

// TASK(nbody)
#include <algorithm>

namespace {

constexpr int kThreads = 256, kOwn = 4;  // of a block; bodies of a thread
constexpr int kMostParts = 32;           // into which the sources are cut, so that all multiprocessors have work

// 12 operations in fp32 and a reciprocal square root.
__device__ void pull(float4 at, float4 from, float3& f) {
  const float dx = from.x - at.x, dy = from.y - at.y, dz = from.z - at.z;
  const float inverse = fast_rsqrt(fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, kSoftening))));
  const float s = from.w * inverse * inverse * inverse;
  f.x = fmaf(s, dx, f.x), f.y = fmaf(s, dy, f.y), f.z = fmaf(s, dz, f.z);
}

// Block (i, p): the forces of part p of the sources on kThreads * kOwn bodies. Each source that comes from shared memory
// pulls kOwn bodies of a thread. bodies: (n); parts: (gridDim.y, n).
__global__ void __launch_bounds__(kThreads, 3) all_pairs_kernel(const float4* bodies, float4* parts, int n) {
  __shared__ float4 tile[kThreads];
  const int thread = static_cast<int>(threadIdx.x), first = static_cast<int>(blockIdx.x) * kThreads * kOwn + thread;
  const int tiles = (n + kThreads - 1) / kThreads, count = static_cast<int>(gridDim.y);
  const int part = static_cast<int>(blockIdx.y), end = (part + 1) * tiles / count;
  const float4 none = make_float4(0, 0, 0, 0);
  float4 at[kOwn];
  float3 f[kOwn];
#pragma unroll
  for (int t = 0; t < kOwn; ++t) {
    const int i = first + t * kThreads;
    at[t] = i < n ? bodies[i] : none, f[t] = make_float3(0, 0, 0);
  }
  for (int j = part * tiles / count; j < end; ++j) {
    const int source = j * kThreads + thread;
    tile[thread] = source < n ? bodies[source] : none;  // without mass
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < kThreads; ++k) {
      const float4 from = tile[k];
#pragma unroll
      for (int t = 0; t < kOwn; ++t) pull(at[t], from, f[t]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int t = 0; t < kOwn; ++t) {
    const int i = first + t * kThreads;
    if (i < n) parts[std::size_t(part) * n + i] = make_float4(f[t].x, f[t].y, f[t].z, 0);
  }
}

__global__ void add_parts_kernel(const float4* parts, float4* force, int n, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  float4 sum = parts[i];
  for (int p = 1; p < count; ++p) {
    const float4 v = parts[std::size_t(p) * n + i];
    sum.x += v.x, sum.y += v.y, sum.z += v.z;
  }
  force[i] = sum;
}

__global__ void begin_kernel(Cells s, bool first) {
  if (first) *s.builds = 0;
  *s.moved = first ? 1 : 0;
}
// A thread an atom.
__global__ void moved_kernel(const int4* atoms, Cells s, int n, Box box) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n && 4 * squared(atoms[i], s.placed[i], box.side) > box.skin * box.skin) atomicOr(s.moved, 1);
}
// A thread a cell.
__global__ void clear_kernel(Cells s, int cells) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < cells && *s.moved != 0) s.counts[i] = 0;
}
__global__ void count_kernel(const int4* atoms, Cells s, int n, Box box) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n || *s.moved == 0) return;
  s.placed[i] = atoms[i];
  atomicAdd(s.counts + cell_of(atoms[i], box), 1);
}
// A thread an atom: its place among those of its cell.
__global__ void place_kernel(Cells s, int n, Box box) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n || *s.moved == 0) return;
  const int cell = cell_of(s.placed[i], box);
  s.order[s.first[cell] + atomicAdd(s.counts + cell, 1)] = i;
}
// A thread an atom: the atoms of 27 cells around the one in which it was when the cells were made. They hold all atoms that
// are near now: each of the two has moved by skin / 2 at most.
__global__ void near_kernel(const int4* atoms, int4* force, Cells s, int n, Box box) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const int4 at = atoms[i];
  const int own = cell_of(s.placed[i], box), m = box.cells - 1;
  const int x = own & m, y = own / box.cells & m, z = own / box.cells / box.cells;
  int4 sum = make_int4(0, 0, 0, 0);
  for (int d = 0; d < 27; ++d) {
    const int cell =
        ((((z + d / 9 - 1) & m) * box.cells + ((y + d / 3 % 3 - 1) & m)) * box.cells) + ((x + d % 3 - 1) & m);
    for (int k = s.first[cell]; k < s.first[cell] + s.counts[cell]; ++k) {
      const int j = s.order[k];
      const int w = weight_of(squared(at, atoms[j], box.side), box);
      if (j == i || w == 0) continue;
      sum.x += w * shortest(at.x, atoms[j].x, box.side), sum.y += w * shortest(at.y, atoms[j].y, box.side);
      sum.z += w * shortest(at.z, atoms[j].z, box.side), ++sum.w;
    }
  }
  force[i] = sum;
}

}  // namespace

void all_pairs(const float4* bodies, float4* force, int n, void* workspace, std::size_t, cudaStream_t stream) {
  const int blocks = (n + kThreads * kOwn - 1) / (kThreads * kOwn), tiles = (n + kThreads - 1) / kThreads;
  const int parts = std::min({kMostParts, tiles, std::max(1, 2048 / blocks)});
  auto* sums = static_cast<float4*>(workspace);
  all_pairs_kernel<<<dim3(blocks, parts), kThreads, 0, stream>>>(bodies, sums, n);
  add_parts_kernel<<<(n + 255) / 256, 256, 0, stream>>>(sums, force, n, parts);
}

void near_pairs(const int4* atoms, int4* force, int* builds, int n, const Box& box, bool first, void* state,
                std::size_t, cudaStream_t stream) {
  const int cells = box.cells * box.cells * box.cells, blocks = (n + 255) / 256;
  const Cells s = cells_in(state, n, cells);
  begin_kernel<<<1, 1, 0, stream>>>(s, first);
  if (!first) moved_kernel<<<blocks, 256, 0, stream>>>(atoms, s, n, box);
  clear_kernel<<<(cells + 255) / 256, 256, 0, stream>>>(s, cells);
  count_kernel<<<blocks, 256, 0, stream>>>(atoms, s, n, box);
  scan_kernel<<<1, kScanThreads, 0, stream>>>(s, builds, cells);
  place_kernel<<<blocks, 256, 0, stream>>>(s, n, box);
  near_kernel<<<blocks, 256, 0, stream>>>(atoms, force, s, n, box);
}
// END(nbody)
