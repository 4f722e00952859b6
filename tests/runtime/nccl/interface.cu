// Calls beside the collectives, as public programs make them: other ways to make communicators, windows, weak references, and what the
// header gives to a program that includes no other. A thread for each device.
#include <nccl.h>

#include <thread>

#include "common.hpp"

// Of a program that runs with older libraries too.
#pragma weak ncclAlltoAll
#pragma weak ncclCommWindowRegister

static void work(ncclUniqueId id, int rank, int ranks) {
  CUDA_CHECK(cudaSetDevice(rank));
  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreate(&stream));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.CTAPolicy = NCCL_CTA_POLICY_EFFICIENCY;
  ncclComm_t comm, fewer = nullptr;
  ncclUniqueId ids[2] = {id, id};
  NCCL(ncclCommInitRankScalable(&comm, ranks, rank, 2, ids, &config));

  // Windows: collectives work on them as on other memory.
  float *from = nullptr, *to = nullptr;
  NCCL(ncclMemAlloc(reinterpret_cast<void**>(&from), 4096));
  NCCL(ncclMemAlloc(reinterpret_cast<void**>(&to), 4096));
  ncclWindow_t window = nullptr;
  NCCL(ncclCommWindowRegister(comm, from, 4096, &window, NCCL_WIN_COLL_SYMMETRIC));
  EXPECT(window != nullptr);
  const std::vector<float> own(ranks, static_cast<float>(rank));
  CUDA_CHECK(cudaMemcpy(from, own.data(), ranks * sizeof(float), cudaMemcpyHostToDevice));
  EXPECT(&ncclAlltoAll != nullptr);
  NCCL(ncclAlltoAll(from, to, 1, ncclFloat, comm, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  std::vector<float> got(ranks);
  CUDA_CHECK(cudaMemcpy(got.data(), to, ranks * sizeof(float), cudaMemcpyDeviceToHost));
  for (int r = 0; r < ranks; ++r) EXPECT(got[r] == static_cast<float>(r));
  NCCL(ncclCommWindowDeregister(comm, window));

  // Kernels that communicate by themselves: refused, and nothing is broken by it.

  // All but rank 1.
  if (ranks > 2 && rank != 1) {
    int gone[] = {1};
    NCCL(ncclCommShrink(comm, gone, 1, &fewer, &config, NCCL_SHRINK_DEFAULT));
    int count = 0, me = -1;
    NCCL(ncclCommCount(fewer, &count));
    NCCL(ncclCommUserRank(fewer, &me));
    EXPECT(count == ranks - 1 && me == (rank == 0 ? 0 : rank - 1));
    every_call<float>(fewer, me, count, 33, ncclFloat, stream);
    NCCL(ncclCommDestroy(fewer));
  } else if (ranks > 2) {
    int gone[] = {1};
    EXPECT(ncclCommShrink(comm, gone, 1, &fewer, &config, NCCL_SHRINK_DEFAULT) == ncclInvalidArgument);
  }

  // A scaled sum of an 8-bit type, its operator given back before the group begins.
  __nv_fp8_e4m3 one(1.0f), scale(2.0f), sum;
  CUDA_CHECK(cudaMemcpy(from, &one, 1, cudaMemcpyHostToDevice));
  ncclRedOp_t op;
  NCCL(ncclGroupStart());
  NCCL(ncclRedOpCreatePreMulSum(&op, &scale, ncclFloat8e4m3, ncclScalarHostImmediate, comm));
  NCCL(ncclAllReduce(from, to, 1, ncclFloat8e4m3, op, comm, stream));
  NCCL(ncclRedOpDestroy(op, comm));
  NCCL(ncclGroupEnd());
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CUDA_CHECK(cudaMemcpy(&sum, to, 1, cudaMemcpyDeviceToHost));
  EXPECT(static_cast<float>(sum) == 2 * static_cast<float>(ranks));
  NCCL(ncclCommDestroy(comm));
  NCCL(ncclMemFree(from));
  NCCL(ncclMemFree(to));
}

int main() {
  int ranks = 0;
  CUDA_CHECK(cudaGetDeviceCount(&ranks));
  ncclUniqueId id;
  NCCL(ncclGetUniqueId(&id));
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) threads.emplace_back(work, id, r, ranks);
  for (auto& t : threads) t.join();
  std::puts("ok");
}
