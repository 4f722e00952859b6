// What the programs here share. They run as one thread for all devices, as a thread or as a process for each rank, and are
// plain NCCL: the same files build with nvcc.
#pragma once
#include <nccl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../../simt/programs/sample.hpp"

#define NCCL(call)                                                                                                     \
  do {                                                                                                                 \
    ncclResult_t result_ = (call);                                                                                     \
    if (result_ != ncclSuccess) {                                                                                      \
      std::printf("%s:%d: %s: %s, %s\n", __FILE__, __LINE__, #call, ncclGetErrorString(result_), ncclGetLastError(0)); \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (0)
#define EXPECT(condition)                                                 \
  do {                                                                    \
    if (!(condition)) {                                                   \
      std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                       \
    }                                                                     \
  } while (0)

// The communicator's id, from rank 0 to the others through a file that appears whole.
inline ncclUniqueId id_through(const std::string& file, int rank) {
  ncclUniqueId id;
  if (rank == 0) {
    NCCL(ncclGetUniqueId(&id));
    FILE* f = std::fopen((file + ".part").c_str(), "wb");
    EXPECT(f != nullptr && std::fwrite(&id, sizeof id, 1, f) == 1 && std::fclose(f) == 0);
    EXPECT(std::rename((file + ".part").c_str(), file.c_str()) == 0);
    return id;
  }
  FILE* f = nullptr;
  while ((f = std::fopen(file.c_str(), "rb")) == nullptr) usleep(5000);
  EXPECT(std::fread(&id, sizeof id, 1, f) == 1);
  std::fclose(f);
  return id;
}

// Element i of rank r: small whole numbers, so that sums are exact in any order.
template <class T>
T value(int r, size_t i) {
  return static_cast<T>((i * 7 + static_cast<size_t>(r) * 13) % 11);
}

template <class T>
struct Buffer {
  T* data = nullptr;
  size_t count = 0;
  explicit Buffer(size_t n = 0) : count(n) {
    CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&data), (n + 1) * sizeof(T)));
  }
  Buffer(const std::vector<T>& from) : Buffer(from.size()) {
    CUDA_CHECK(cudaMemcpy(data, from.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> host() const {
    std::vector<T> to(count);
    CUDA_CHECK(cudaMemcpy(to.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
    return to;
  }
};

template <class T>
std::vector<T> values(int rank, size_t n) {
  std::vector<T> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = value<T>(rank, i);
  return v;
}

template <class T>
T sum_of_all(int ranks, size_t i) {
  T sum = 0;
  for (int r = 0; r < ranks; ++r) sum += value<T>(r, i);
  return sum;
}

// Every call once, as rank `rank` of `ranks`, on `count` elements. Each rank calls it from a thread or a process of its own.
template <class T>
void every_call(ncclComm_t comm, int rank, int ranks, size_t n, ncclDataType_t type, cudaStream_t stream) {
  const auto p = static_cast<size_t>(ranks), me = static_cast<size_t>(rank);
  const int root = ranks / 2;
  const std::vector<T> own = values<T>(rank, n), wide = values<T>(rank, n * p);
  Buffer<T> in(own), big(wide), out(n), all(n * p), in_place(own);

  NCCL(ncclAllReduce(in.data, out.data, n, type, ncclSum, comm, stream));
  NCCL(ncclAllReduce(in_place.data, in_place.data, n, type, ncclSum, comm, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  std::vector<T> got = out.host(), same = in_place.host();
  for (size_t i = 0; i < n; ++i) EXPECT(got[i] == sum_of_all<T>(ranks, i) && same[i] == got[i]);

  NCCL(ncclAllReduce(in.data, out.data, n, type, ncclMax, comm, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  got = out.host();
  for (size_t i = 0; i < n; ++i) {
    T most = value<T>(0, i);
    for (int r = 1; r < ranks; ++r) most = most < value<T>(r, i) ? value<T>(r, i) : most;
    EXPECT(got[i] == most);
  }

  NCCL(ncclReduceScatter(big.data, out.data, n, type, ncclSum, comm, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  got = out.host();
  for (size_t i = 0; i < n; ++i) EXPECT(got[i] == sum_of_all<T>(ranks, me * n + i));

  NCCL(ncclAllGather(in.data, all.data, n, type, comm, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  got = all.host();
  for (size_t i = 0; i < n * p; ++i) EXPECT(got[i] == value<T>(static_cast<int>(i / n), i % n));

  NCCL(ncclReduce(in.data, out.data, n, type, ncclSum, root, comm, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  got = out.host();
  if (rank == root)
    for (size_t i = 0; i < n; ++i) EXPECT(got[i] == sum_of_all<T>(ranks, i));

  Buffer<T> spread(own);
  NCCL(ncclBroadcast(in.data, out.data, n, type, root, comm, stream));
  NCCL(ncclBcast(spread.data, n, type, root, comm, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  got = out.host(), same = spread.host();
  for (size_t i = 0; i < n; ++i) EXPECT(got[i] == value<T>(root, i) && same[i] == got[i]);

  NCCL(ncclAlltoAll(big.data, all.data, n, type, comm, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  got = all.host();
  for (size_t i = 0; i < n * p; ++i) EXPECT(got[i] == value<T>(static_cast<int>(i / n), me * n + i % n));

  NCCL(ncclGather(in.data, all.data, n, type, root, comm, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  got = all.host();
  if (rank == root)
    for (size_t i = 0; i < n * p; ++i) EXPECT(got[i] == value<T>(static_cast<int>(i / n), i % n));
  NCCL(ncclScatter(big.data, out.data, n, type, root, comm, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  got = out.host();
  for (size_t i = 0; i < n; ++i) EXPECT(got[i] == value<T>(root, me * n + i));

  // To the next rank, from the one before; several messages in a group keep their order.
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  Buffer<T> first(n), second(n);
  NCCL(ncclGroupStart());
  NCCL(ncclSend(in.data, n, type, next, comm, stream));
  NCCL(ncclSend(big.data, n, type, next, comm, stream));
  NCCL(ncclRecv(first.data, n, type, before, comm, stream));
  NCCL(ncclRecv(second.data, n, type, before, comm, stream));
  NCCL(ncclGroupEnd());
  CUDA_CHECK(cudaStreamSynchronize(stream));
  got = first.host(), same = second.host();
  for (size_t i = 0; i < n; ++i) EXPECT(got[i] == value<T>(before, i) && same[i] == value<T>(before, i));
  for (auto* b : {&in, &big, &out, &all, &in_place, &spread, &first, &second}) CUDA_CHECK(cudaFree(b->data));
}
