// Lab 18, task `halo`: the heat equation on several ranks.
//
// Each step needs the neighbours' border. The inside needs nobody's, and is computed while the border travels.
// Run: ./ridge check 18 --task halo
#include "halo.hpp"

// TASK(halo)
#include <utility>

namespace {

constexpr int kThreads = 256;

// Places in an array with a layer of ghosts along y and z: (nz + 2, ny + 2, nx). z and y count from 1 inside.
__device__ std::size_t place(const Part& p, int x, int y, int z) {
  return (std::size_t(z) * (p.ny + 2) + y) * p.nx + x;
}

// A thread a point. to: ghosts are 0 where there is no neighbour, and else are received before they are read.
__global__ void spread_kernel(const float* in, float* to, Part p) {
  const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= std::size_t(p.nx) * (p.ny + 2) * (p.nz + 2)) return;
  const int x = static_cast<int>(i % p.nx), y = static_cast<int>(i / p.nx % (p.ny + 2)) - 1;
  const int z = static_cast<int>(i / p.nx / (p.ny + 2)) - 1;
  const bool inside = y >= 0 && y < p.ny && z >= 0 && z < p.nz;
  to[i] = inside ? in[(std::size_t(z) * p.ny + y) * p.nx + x] : 0;
}

// u, next: with ghosts. border: the points that read ghosts, or those that do not. out: where the last step's result goes,
// without ghosts, or null.
__global__ void heat_kernel(const float* u, float* next, float* out, Part p, bool border) {
  const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= points_of(p)) return;
  const int x = static_cast<int>(i % p.nx), y = static_cast<int>(i / p.nx % p.ny),
            z = static_cast<int>(i / p.nx / p.ny);
  if ((y == 0 || y == p.ny - 1 || z == 0 || z == p.nz - 1) != border) return;
  float sum = 0;
  for (int dz = -1; dz <= 1; ++dz)
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        if (x + dx >= 0 && x + dx < p.nx) sum += heat_weight(dx, dy, dz) * u[place(p, x + dx, y + 1 + dy, z + 1 + dz)];
  *(out != nullptr ? out + i : next + place(p, x, y + 1, z + 1)) = sum;
}

// Faces along y: lines y = 1 and y = ny of all planes. faces: (2, nz, nx).
__global__ void pack_kernel(const float* u, float* faces, Part p) {
  const int i = static_cast<int>(blockIdx.x * kThreads + threadIdx.x), face = p.nx * p.nz;
  if (i < 2 * face) faces[i] = u[place(p, i % p.nx, i < face ? 1 : p.ny, i % face / p.nx + 1)];
}
// ... to the ghosts y = 0 and y = ny + 1, where there is a neighbour.
__global__ void unpack_kernel(const float* faces, float* u, Part p, bool before, bool behind) {
  const int i = static_cast<int>(blockIdx.x * kThreads + threadIdx.x), face = p.nx * p.nz;
  if (i < 2 * face && (i < face ? before : behind))
    u[place(p, i % p.nx, i < face ? 0 : p.ny + 1, i % face / p.nx + 1)] = faces[i];
}

struct Beside {  // made once
  cudaStream_t stream = nullptr;
  cudaEvent_t ready = nullptr, inside = nullptr;
  Beside() {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&ready, cudaEventDisableTiming), cudaEventCreateWithFlags(&inside, cudaEventDisableTiming);
  }
};

unsigned blocks_for(std::size_t n) { return static_cast<unsigned>((n + kThreads - 1) / kThreads); }

}  // namespace

void halo(const float* in, float* out, const Part& p, int rank, void* workspace, std::size_t, ncclComm_t comm,
          cudaStream_t stream) {
  static Beside beside;
  const std::size_t plane = std::size_t(p.nx) * (p.ny + 2), all = plane * (p.nz + 2);
  const std::size_t face = std::size_t(p.nx) * p.nz;
  auto *u = static_cast<float*>(workspace), *next = u + all, *sent = next + all, *received = sent + 2 * face;
  const int y = rank % p.ranks_y, z = rank / p.ranks_y;
  const bool before = y > 0, behind = y + 1 < p.ranks_y, below = z > 0, above = z + 1 < p.ranks_z;
  auto exchange = [&](bool is, int other, const float* from, float* to, std::size_t count) {
    if (!is) return;
    ncclSend(from, count, ncclFloat, other, comm, stream);
    ncclRecv(to, count, ncclFloat, other, comm, stream);
  };
  spread_kernel<<<blocks_for(all), kThreads, 0, stream>>>(in, u, p);
  spread_kernel<<<blocks_for(all), kThreads, 0, stream>>>(in, next, p);
  for (int step = 0; step < p.steps; ++step) {
    float* to = step + 1 == p.steps ? out : nullptr;
    const bool along_y = before || behind;
    if (along_y) pack_kernel<<<blocks_for(2 * face), kThreads, 0, stream>>>(u, sent, p);
    cudaEventRecord(beside.ready, stream);  // after the short kernel that messages wait for
    cudaStreamWaitEvent(beside.stream, beside.ready, 0);
    heat_kernel<<<blocks_for(points_of(p)), kThreads, 0, beside.stream>>>(u, next, to, p, false);
    cudaEventRecord(beside.inside, beside.stream);
    if (along_y) {
      ncclGroupStart();
      exchange(before, rank - 1, sent, received, face);
      exchange(behind, rank + 1, sent + face, received + face, face);
      ncclGroupEnd();
      unpack_kernel<<<blocks_for(2 * face), kThreads, 0, stream>>>(received, u, p, before, behind);
    }
    // Planes lie in one piece and have the ghosts of y by now: with them go the corners.
    ncclGroupStart();
    exchange(below, rank - p.ranks_y, u + plane, u, plane);
    exchange(above, rank + p.ranks_y, u + p.nz * plane, u + (p.nz + 1) * plane, plane);
    ncclGroupEnd();
    heat_kernel<<<blocks_for(points_of(p)), kThreads, 0, stream>>>(u, next, to, p, true);
    cudaStreamWaitEvent(stream, beside.inside, 0);
    std::swap(u, next);
  }
}
// END(halo)
