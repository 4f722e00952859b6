// Every call by ranks in processes or threads of their own. ranks FILE RANK RANKS: the id of the communicator goes from rank 0 through
// FILE. ranks threads RANKS: a thread for each, each with a device of its own.
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "common.hpp"

static void pause(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

static void work(ncclUniqueId id, int rank, int ranks, bool processes) {
  ncclComm_t comm, half;
  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreate(&stream));
  pause(rank * 20);
  NCCL(ncclCommInitRank(&comm, ranks, id, rank));
  int count = 0, me = -1;
  NCCL(ncclCommCount(comm, &count));
  NCCL(ncclCommUserRank(comm, &me));
  EXPECT(count == ranks && me == rank);
  every_call<float>(comm, rank, ranks, 1003, ncclFloat, stream);
  every_call<long long>(comm, rank, ranks, 5, ncclInt64, stream);
  every_call<unsigned char>(comm, rank, ranks, 1, ncclUint8, stream);
  every_call<float>(comm, rank, ranks, size_t{1} << 18, ncclFloat, stream);

  // Even and odd ranks apart, in reverse order.
  NCCL(ncclCommSplit(comm, rank % 2, -rank, &half, nullptr));
  NCCL(ncclCommCount(half, &count));
  NCCL(ncclCommUserRank(half, &me));
  EXPECT(count == (ranks + 1 - rank % 2) / 2 && me == count - 1 - rank / 2);
  every_call<float>(half, me, count, 77, ncclFloat, stream);
  ncclComm_t none = comm;
  NCCL(ncclCommSplit(comm, rank == 0 ? 0 : NCCL_SPLIT_NOCOLOR, 0, &none, nullptr));
  EXPECT((none != nullptr) == (rank == 0));

  // The host of rank 0 waits for nothing; its part must be done while it sleeps, also where it has asked late.
  const bool timed = processes && (ranks == 2 || ranks == 3);
  for (int late : {0, 100}) {
    Buffer<float> in(values<float>(rank, 100)), out(100);
    if (rank == 0) pause(late);
    NCCL(ncclAllReduce(in.data, out.data, 100, ncclFloat, ncclSum, comm, stream));
    const auto begin = std::chrono::steady_clock::now();
    if (rank == 0) pause(timed ? 3000 : 100);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
    EXPECT(!timed || rank == 0 || waited.count() < 2.5);
    EXPECT(out.host()[99] == sum_of_all<float>(ranks, 99));
    NCCL(ncclAllReduce(in.data, out.data, 100, ncclFloat, ncclSum, comm, stream));  // nobody goes on before rank 0
    CUDA_CHECK(cudaStreamSynchronize(stream));
  }
  NCCL(ncclCommDestroy(half));
  NCCL(ncclCommFinalize(comm));
  NCCL(ncclCommDestroy(comm));
}

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "threads") == 0) {
    const int ranks = std::atoi(argv[2]);
    ncclUniqueId id;
    NCCL(ncclGetUniqueId(&id));
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; ++r)
      threads.emplace_back([=] {
        CUDA_CHECK(cudaSetDevice(r));
        work(id, r, ranks, false);
      });
    for (auto& t : threads) t.join();
  } else {
    const std::string file = argv[1];
    const int rank = std::atoi(argv[2]), ranks = std::atoi(argv[3]);
    const ncclUniqueId id = id_through(file, rank);
    work(id, rank, ranks, true);
  }
  std::puts("ok");
}
