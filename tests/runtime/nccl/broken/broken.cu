// What goes wrong with ranks. broken WHAT in one thread for all devices; broken WHAT FILE RANK RANKS in a process for each rank.
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>

#include "../common.hpp"

static std::string what;

static void go(int r, int p, ncclComm_t comm, cudaStream_t stream, float* a, float* b, size_t n) {
  if (what == "order") {  // rank 1 the other way around
    if (r != 1) NCCL(ncclAllReduce(a, b, n, ncclFloat, ncclSum, comm, stream));
    NCCL(ncclBroadcast(a, b, n, ncclFloat, 0, comm, stream));
    if (r == 1) NCCL(ncclAllReduce(a, b, n, ncclFloat, ncclSum, comm, stream));
  }
  if (what == "count") NCCL(ncclAllReduce(a, b, r == 1 ? n - 1 : n, ncclFloat, ncclSum, comm, stream));
  if (what == "root") NCCL(ncclBroadcast(a, b, n, ncclFloat, r == 1 ? 1 : 0, comm, stream));
  if (what == "missing" && r != 1) NCCL(ncclAllReduce(a, b, n, ncclFloat, ncclSum, comm, stream));
  if (what == "send_count") {
    if (r == 0) NCCL(ncclSend(a, n, ncclFloat, 1, comm, stream));
    if (r == 1) NCCL(ncclRecv(b, n / 2, ncclFloat, 0, comm, stream));
  }
  if (what == "below_zero") ncclBroadcast(a, b, n - n - 1, ncclFloat, 0, comm, stream);
  if (what == "past_the_end") ncclBroadcast(a, b, n + 2, ncclFloat, 0, comm, stream);
  if (what == "no_receive" && r == 0) NCCL(ncclSend(a, n, ncclFloat, 1, comm, stream));
  if (what == "no_group") {  // all send first: nobody has begun to receive
    NCCL(ncclSend(a, n, ncclFloat, (r + 1) % p, comm, stream));
    NCCL(ncclRecv(b, n, ncclFloat, (r + p - 1) % p, comm, stream));
  }
  if (what == "killed") {
    if (r == 1) raise(SIGKILL);
    NCCL(ncclAllReduce(a, b, n, ncclFloat, ncclSum, comm, stream));
  }
  if (what == "split") {
    ncclComm_t half;
    if (r == 1) std::this_thread::sleep_for(std::chrono::seconds(8));
    NCCL(ncclCommSplit(comm, 0, r, &half, nullptr));
  }
  if (what == "leaves") {  // not broken: rank 0 ends at once, while the others still read what it has sent
    const size_t much = size_t{1} << 22;
    Buffer<float> big(std::vector<float>(much, 3.0f)), got(much);
    if (r != 0) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    NCCL(ncclBroadcast(big.data, got.data, much, ncclFloat, 0, comm, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    EXPECT(got.host()[much - 1] == 3.0f);
  }
  if (what == "asleep") {
    if (r == 1) std::this_thread::sleep_for(std::chrono::seconds(4));
    NCCL(ncclAllReduce(a, b, n, ncclFloat, ncclSum, comm, stream));
  }
}

int main(int argc, char** argv) {
  what = argv[1];
  const size_t n = 1000;
  if (argc == 2) {
    int p = 0;
    CUDA_CHECK(cudaGetDeviceCount(&p));
    std::vector<ncclComm_t> comms(p);
    std::vector<cudaStream_t> streams(p);
    std::vector<float*> a(p), b(p);
    NCCL(ncclCommInitAll(comms.data(), p, nullptr));
    for (int r = 0; r < p; ++r) {
      CUDA_CHECK(cudaSetDevice(r));
      CUDA_CHECK(cudaStreamCreate(&streams[r]));
      a[r] = Buffer<float>(n).data;
      b[r] = Buffer<float>(n).data;
    }
    for (int r = 0; r < p; ++r) go(r, p, comms[r], streams[r], a[r], b[r], n);
    for (int r = 0; r < p; ++r) CUDA_CHECK(cudaStreamSynchronize(streams[r]));
  } else {
    const std::string file = argv[2];
    const int r = std::atoi(argv[3]), p = std::atoi(argv[4]);
    const ncclUniqueId id = id_through(file, r);
    if (what == "absent" && r == 1) {
      usleep(8000000);  // and comes late
    }
    ncclComm_t comm;
    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreate(&stream));
    NCCL(ncclCommInitRank(&comm, p, id, r));
    Buffer<float> a(n), b(n);
    go(r, p, comm, stream, a.data, b.data, n);
    CUDA_CHECK(cudaStreamSynchronize(stream));
  }
  std::puts("came to its end");
}
