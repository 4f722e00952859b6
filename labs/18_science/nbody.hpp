// Contract of lab 18's task `nbody`: all pairs of bodies, and pairs that are near.
//
// Pointers, streams and helpers as in science.hpp.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>

// Bodies that attract each other, all pairs:
//   force[i] = sum over j of m_j d / (d.d + kSoftening)^(3/2), d = x_j - x_i
// A body's own term is 0, since d is. Sums are in fp32; the reciprocal square root may be off by two units.
//   bodies     n: x, y, z, and the mass
//   force      n: x, y, z, and 0
//   workspace  at least 1024 bytes for each body
constexpr float kSoftening = 1e-3f;
void all_pairs(const float4* bodies, float4* force, int n, void* workspace, std::size_t workspace_bytes,
               cudaStream_t stream);

// 1 / sqrt(x) to two units in the last place, one instruction: rsqrtf() takes three more for numbers below 2^-126.
__device__ inline float fast_rsqrt(float x) {
#ifdef RIDGE_SIMT
  return rsqrtf(x);
#else
  float r;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
#endif
}

// Atoms in a periodic box of side^3 units, side a power of two. Places are whole numbers from 0 to side - 1, so that
// distances are exact.
struct Box {
  int side;    // 64 to 4096
  int cutoff;  // atoms nearer than this repel each other
  int skin;    // cells are larger than the cutoff by this, at least
  int cells;   // along each axis: cells * (cutoff + skin) <= side, 4 <= cells <= 32, a power of two
};
// From place b to place a on the shortest way around the box, along one axis.
__host__ __device__ inline int shortest(int a, int b, int side) { return ((a - b + side / 2) & (side - 1)) - side / 2; }
// The weight of a pair with the squared distance d2: 0 beyond the cutoff.
__host__ __device__ inline int weight_of(int d2, const Box& box) {
  const int left = box.cutoff * box.cutoff - d2;
  return left > 0 ? left : 0;
}

__host__ __device__ inline int squared(int4 a, int4 b, int side) {
  const int dx = shortest(a.x, b.x, side), dy = shortest(a.y, b.y, side), dz = shortest(a.z, b.z, side);
  return dx * dx + dy * dy + dz * dz;
}
__host__ __device__ inline int cell_of(int4 a, const Box& box) {
  const int size = box.side / box.cells;
  return (a.z / size * box.cells + a.y / size) * box.cells + a.x / size;
}

// Called for one frame after the other. For each atom i, over the other atoms j that are nearer than the cutoff:
//   force[i] = {sum of w dx, sum of w dy, sum of w dz, how many}, dx = shortest(x_i, x_j, side), w = weight_of(d.d, box)
// in whole numbers, so that the order of a sum is free; all sums fit. Atoms are kept by cells. The cells are made anew in the
// first frame, and in each frame in which an atom is more than skin / 2 from where it was when the cells were made, as d.d
// with `shortest`: 4 d.d > skin^2. In no other frame.
//   atoms      n: x, y, z, and 0
//   force      n
//   builds     how often the cells have been made, this frame included: 1 in the first frame. Written in each frame
//   first      whether this is the first frame: `state` is undefined then, and else as the last call left it
//   state      at least 64 bytes for each atom, 16 for each cell, and 64 KiB
void near_pairs(const int4* atoms, int4* force, int* builds, int n, const Box& box, bool first, void* state,
                std::size_t state_bytes, cudaStream_t stream);

// ---- for your use: the atoms by cells, as they lie in `state` ------------------------------------------------------------
struct Cells {
  int4* placed;  // (n): where each atom was when the cells were made
  int* order;    // (n): atoms by cells
  int* first;    // (cells): where a cell begins in `order`
  int* counts;   // (cells): its atoms
  int *moved, *builds;
};
inline Cells cells_in(void* state, int n, int cells) {
  auto* placed = static_cast<int4*>(state);
  auto* order = reinterpret_cast<int*>(placed + n);
  return {placed, order, order + n, order + n + cells, order + n + 2 * cells, order + n + 2 * cells + 1};
}
// One block of kScanThreads threads: unless `moved` is 0, `first` from `counts`, which become 0 again, and one more build.
constexpr int kScanThreads = 1024;
static __global__ void scan_kernel(Cells s, int* builds, int cells) {
  __shared__ int sums[kScanThreads];
  const int t = static_cast<int>(threadIdx.x), each = (cells + kScanThreads - 1) / kScanThreads;
  const int begin = min(cells, t * each), end = min(cells, (t + 1) * each);
  if (*s.moved != 0) {
    int sum = 0;
    for (int c = begin; c < end; ++c) sum += s.counts[c];
    sums[t] = sum;
    for (int step = 1; step < kScanThreads; step *= 2) {
      __syncthreads();
      const int before = t >= step ? sums[t - step] : 0;
      __syncthreads();
      sums[t] += before;
    }
    int at = sums[t] - sum;
    for (int c = begin; c < end; ++c) s.first[c] = at, at += s.counts[c], s.counts[c] = 0;
  }
  if (t == 0) *builds = *s.builds += *s.moved != 0 ? 1 : 0;
}
