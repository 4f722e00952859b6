// Unpacks a call record of the judge for lab 06.
#include "lab/call.hpp"
#include "ring.hpp"

#ifndef RIDGE_SIMT  // ranks of the emulator are processes that do not run at the same time

#include <cstdio>
#include <cstdlib>

namespace {

void must(cudaError_t e, const char* what) {
  if (e == cudaSuccess) return;
  std::fprintf(stderr, "windows of peer memory: %s: %s\n", what, cudaGetErrorString(e));
  std::exit(3);
}

// All ranks make their windows together and open each other's through CUDA IPC. They are kept until a call needs larger ones.
const Windows& windows(std::size_t bytes, const ridge_rank& rank) {
  static Windows all{};
  static std::size_t room = 0;
  static void* own = nullptr;
  if (bytes <= room) return all;
  constexpr std::size_t kHead = (sizeof(Signals) + 255) / 256 * 256;
  must(cudaDeviceSynchronize(), "earlier work");
  MPI_Barrier(MPI_COMM_WORLD);
  for (int q = 0; q < all.ranks; ++q)
    if (q != rank.rank) must(cudaIpcCloseMemHandle(all.of[q].signals), "closing a window");
  MPI_Barrier(MPI_COMM_WORLD);
  must(cudaFree(own), "freeing a window");
  must(cudaMalloc(&own, kHead + bytes), "allocating a window");
  must(cudaMemset(own, 0, kHead), "clearing signals");
  must(cudaDeviceSynchronize(), "clearing signals");
  cudaIpcMemHandle_t mine{};
  must(cudaIpcGetMemHandle(&mine, own), "cudaIpcGetMemHandle");
  all.rank = rank.rank, all.ranks = rank.ranks;
  for (int k = 0; k < rank.ranks; ++k) {
    const int to = (rank.rank + k) % rank.ranks, from = (rank.rank + rank.ranks - k) % rank.ranks;
    void* opened = own;
    if (k > 0) {
      cudaIpcMemHandle_t handle{};
      MPI_Sendrecv(&mine, sizeof mine, MPI_BYTE, to, 0, &handle, sizeof handle, MPI_BYTE, from, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      must(cudaIpcOpenMemHandle(&opened, handle, cudaIpcMemLazyEnablePeerAccess), "cudaIpcOpenMemHandle");
    }
    all.of[from] = {reinterpret_cast<float*>(static_cast<char*>(opened) + kHead), static_cast<Signals*>(opened)};
  }
  MPI_Barrier(MPI_COMM_WORLD);
  room = bytes;
  return all;
}

}  // namespace

#endif

bool ridge_entry(const ridge_call& c) {
  const auto n = static_cast<std::size_t>(c.size[0]);
  const bool in_place = c.size[1] != 0;
  auto comm = static_cast<ncclComm_t>(c.rank->communicator);
  const void* in = c.in[0];
  if (in_place) {
    const std::size_t element = c.is("pipelined") ? sizeof(__nv_bfloat16) : sizeof(float);
    cudaMemcpyAsync(c.out[0], c.in[0], n * element, cudaMemcpyDeviceToDevice, c.stream);
    in = c.out[0];
  }
  const auto* floats = static_cast<const float*>(in);
  auto* out = static_cast<float*>(c.out[0]);
  if (c.is("staged")) {
    staged(floats, out, n, c.workspace, c.workspace_bytes, MPI_COMM_WORLD, c.stream);
  } else if (c.is("ring")) {
    ring(floats, out, n, c.workspace, c.workspace_bytes, comm, c.stream);
  } else if (c.is("pipelined")) {
    pipelined(static_cast<const __nv_bfloat16*>(in), static_cast<__nv_bfloat16*>(c.out[0]), n,
              static_cast<int>(c.size[3]), c.workspace, c.workspace_bytes, comm, c.stream);
  } else if (c.is("hierarchical")) {
    hierarchical(floats, out, n, static_cast<int>(c.size[2]), c.workspace, c.workspace_bytes, comm, c.stream);
#ifndef RIDGE_SIMT
  } else if (c.is("peer")) {
    const std::size_t bytes =
        2 * static_cast<std::size_t>(c.rank->ranks) * peer_chunk(n, c.rank->ranks) * sizeof(float);
    peer(floats, out, n, windows(bytes, *c.rank), comm, c.stream);
#endif
  } else {
    return false;
  }
  return true;
}
