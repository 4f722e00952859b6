// Processes of a measurement, one a GPU: NCCL's communicator, a barrier of the hosts, and an end for all when one fails.
#pragma once
#include <nccl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "nn/check.hpp"

namespace bench {

inline void check(ncclResult_t r, const char* what) {
  if (r != ncclSuccess) throw std::runtime_error(std::string(what) + ": " + ncclGetErrorString(r));
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// ", "name": [values]" of a line of JSON.
inline void print(const char* name, const std::vector<double>& values) {
  std::printf(", \"%s\": [", name);
  for (std::size_t i = 0; i < values.size(); ++i) std::printf("%s%.6f", i == 0 ? "" : ", ", values[i]);
  std::printf("]");
}

class Ranks {
 public:
  explicit Ranks(int count) : count_(count) {
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
    shared_ = new (memory) Shared{};
  }

  // Runs body(rank) in `count` processes, of which this is rank 0. Before this process touches CUDA. Returns an exit code.
  int run(const std::function<void(int)>& body) {
    auto one = [&](int rank) {
      try {
        nn::check(cudaSetDevice(rank), "choosing a GPU");
        body(rank);
        return 0;
      } catch (const std::exception& e) {
        std::fprintf(stderr, "rank %d: %s\n", rank, e.what());
        shared_->failed = 1;
        return 1;
      }
    };
    std::vector<pid_t> others;
    for (int r = 1; r < count_; ++r) {
      const pid_t child = fork();
      if (child == 0) std::exit(one(r));  // runs what watches the program to its end
      if (child < 0) shared_->failed = 1;
      if (child > 0) others.push_back(child);
    }
    int code = shared_->failed.load() != 0 ? 1 : one(0);
    for (pid_t child : others) {
      int status = 0;
      waitpid(child, &status, 0);
      if (status != 0) code = 1;
    }
    return code;
  }

  // Null where there is one rank only. `most_blocks`: that NCCL's kernels may have, 0 as it likes. Each takes a multiprocessor
  // from the kernels beside it, also while it only waits.
  ncclComm_t communicator(int rank, int most_blocks = 0) {
    if (count_ == 1) return nullptr;
    if (rank == 0) {
      check(ncclGetUniqueId(&shared_->id), "ncclGetUniqueId");
      shared_->have_id = 1;
    }
    while (shared_->have_id.load() == 0) alive();
    ncclComm_t comm = nullptr;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    if (most_blocks > 0) config.maxCTAs = most_blocks;
    check(ncclCommInitRankConfig(&comm, count_, shared_->id, rank, &config), "ncclCommInitRankConfig");
    return comm;
  }

  // What each rank has to say; all see it after a barrier.
  double& of(int rank) { return shared_->said[rank]; }
  std::vector<double> of_all() const { return {shared_->said, shared_->said + count_}; }

  char* bytes_of(int rank) { return shared_->bytes[rank]; }  // 64 of them, to be read after a barrier

  void barrier() {
    const int turn = shared_->arrived.fetch_add(1) / count_;
    while (shared_->arrived.load() < (turn + 1) * count_) alive();
  }

 private:
  struct Shared {
    ncclUniqueId id;
    std::atomic<int> have_id, arrived, failed;
    double said[64];
    char bytes[64][64];
  };
  void alive() const {
    if (shared_->failed.load() != 0) std::_Exit(1);
  }

  int count_;
  Shared* shared_;
};

}  // namespace bench
