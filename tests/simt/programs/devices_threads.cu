// devices: 4
// A host thread for each device, as programs with one rank a thread have: a ring passes a block around.
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "check.hpp"

constexpr int kCount = 1024;

__global__ void fill(float* out, float value) { out[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__global__ void add(const float* in, float* sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  sum[i] += in[i];
}

class Meeting {
 public:
  explicit Meeting(int count) : count_(count) {}
  void wait() {
    std::unique_lock lock(mutex_);
    const int round = round_;
    if (++here_ == count_) {
      here_ = 0;
      ++round_;
      wake_.notify_all();
    }
    wake_.wait(lock, [&] { return round_ != round; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  int count_, here_ = 0, round_ = 0;
};

int main() {
  int ranks = 0;
  expect_error(cudaGetDeviceCount(&ranks), cudaSuccess, "count");
  expect(ranks >= 2, "two devices");
  Meeting meeting(ranks);
  std::vector<float*> inbox(ranks), outbox(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      expect_error(cudaSetDevice(rank), cudaSuccess, "cudaSetDevice");
      float* sum;
      cudaStream_t stream;
      cudaMalloc(&inbox[rank], kCount * sizeof(float));
      cudaMalloc(&outbox[rank], kCount * sizeof(float));
      cudaMalloc(&sum, kCount * sizeof(float));
      cudaStreamCreate(&stream);
      fill<<<kCount / 256, 256, 0, stream>>>(outbox[rank], static_cast<float>(rank + 1));
      fill<<<kCount / 256, 256, 0, stream>>>(sum, static_cast<float>(rank + 1));
      const int next = (rank + 1) % ranks;
      for (int step = 1; step < ranks; ++step) {
        expect_error(cudaStreamSynchronize(stream), cudaSuccess, "own work");
        meeting.wait();
        expect_error(cudaMemcpyPeerAsync(inbox[next], next, outbox[rank], rank, kCount * sizeof(float), stream),
                     cudaSuccess, "send");
        expect_error(cudaStreamSynchronize(stream), cudaSuccess, "sent");
        meeting.wait();
        add<<<kCount / 256, 256, 0, stream>>>(inbox[rank], sum);
        cudaMemcpyAsync(outbox[rank], inbox[rank], kCount * sizeof(float), cudaMemcpyDeviceToDevice, stream);
      }
      std::vector<float> host(kCount);
      cudaMemcpyAsync(host.data(), sum, kCount * sizeof(float), cudaMemcpyDeviceToHost, stream);
      expect_error(cudaDeviceSynchronize(), cudaSuccess, "end");
      for (float x : host) expect(x == static_cast<float>(ranks * (ranks + 1) / 2), "sum of all ranks");
      meeting.wait();
      cudaStreamDestroy(stream);
      for (float* p : {inbox[rank], outbox[rank], sum}) expect_error(cudaFree(p), cudaSuccess, "free");
    });
  for (auto& t : threads) t.join();
  std::puts("ok");
}
