// The mean of two ranks' gradients without NCCL: copy engines carry them, and no multiprocessor is taken from the products beside them
// but for the sums. A rank owns half of each bucket:
//
//   its other half goes to the owner's inbox | the owner adds | the sum comes back from the owner's inbox
//
// Flags in the inbox say that a half, or a sum, is there. The stream waits for them by a memory operation, or in a kernel if that is
// asked for; whoever waits takes its flag back, and the other one sets it again in the next step only when it has seen the answer. Works inside of a CUDA graph.
#pragma once
#include <cuda.h>

#include <cstdint>
#include <cstring>

#include "nn/layout.hpp"
#include "ranks.hpp"

namespace bench {

// own: (n) becomes the mean of itself and `inbox`: (n), which gets it too where the other rank is to fetch it.
static __global__ void mean_kernel(float4* own, float4* inbox, std::size_t n, bool fetched) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const float4 a = own[i], b = inbox[i];
    const float4 mean = {0.5f * (a.x + b.x), 0.5f * (a.y + b.y), 0.5f * (a.z + b.z), 0.5f * (a.w + b.w)};
    own[i] = mean;
    if (fetched) inbox[i] = mean;
  }
}

// Waits for a flag and takes it back, on a multiprocessor.
static __global__ void wait_kernel(volatile std::uint32_t* flag) {
  while (*flag != 1) {
  }
  *flag = 0;
  __threadfence_system();
}

class PeerBuckets {
 public:
  bool wait_in_kernels = false;
  bool own_half_only =
      false;  // the other rank keeps the mean of its half; it sends nothing more before this one has answered

  // `elements`: a multiple of 8. Called by both ranks.
  PeerBuckets(float* gradients, std::size_t elements, std::size_t least, int rank, Ranks& ranks, cudaStream_t compute)
      : gradients_(gradients), elements_(elements), least_(least), rank_(rank), compute_(compute) {
    int low = 0, high = 0;
    nn::check(cudaDeviceGetStreamPriorityRange(&low, &high), "priorities");
    nn::check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, high), "a stream");
    nn::check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "an event");
    const std::size_t bytes = elements * sizeof(float) + 2 * kMost * sizeof(std::uint32_t);
    nn::check(cudaMalloc(&inbox_, bytes), "the inbox");
    nn::check(cudaMemset(inbox_, 0, bytes), "the inbox");
    nn::check(cudaMalloc(&one_, sizeof(std::uint32_t)), "a one");
    const std::uint32_t one = 1;
    nn::check(cudaMemcpy(one_, &one, sizeof one, cudaMemcpyHostToDevice), "a one");
    nn::check(cudaDeviceSynchronize(), "the inbox");
    theirs_ = static_cast<float*>(exchange(inbox_, rank, ranks));
  }

  // The other rank's allocation for this rank's, which begins at `mine`. Called by both ranks.
  static void* exchange(void* mine, int rank, Ranks& ranks) {
    cudaIpcMemHandle_t handle;
    nn::check(cudaIpcGetMemHandle(&handle, mine), "cudaIpcGetMemHandle");
    std::memcpy(ranks.bytes_of(rank), &handle, sizeof handle);
    ranks.barrier();
    std::memcpy(&handle, ranks.bytes_of(1 - rank), sizeof handle);
    void* opened = nullptr;
    nn::check(cudaIpcOpenMemHandle(&opened, handle, cudaIpcMemLazyEnablePeerAccess), "cudaIpcOpenMemHandle");
    ranks.barrier();
    return opened;
  }

  // Ranges come in the order of the buffer: what is ready is a prefix.
  void ready(nn::Range range) {
    if (range.end - sent_ < least_ && range.end != elements_) return;
    if (bucket_ == kMost) throw std::runtime_error("too many buckets");
    nn::check(cudaEventRecord(event_, compute_), "recording");
    nn::check(cudaStreamWaitEvent(stream_, event_), "waiting");
    const std::size_t middle = (sent_ + (range.end - sent_) / 2) / 4 * 4;
    const std::size_t own = rank_ == 0 ? sent_ : middle, other = rank_ == 0 ? middle : sent_;
    const std::size_t own_count = (rank_ == 0 ? middle : range.end) - own,
                      other_count = (rank_ == 0 ? range.end : middle) - other;
    copy(theirs_ + other, gradients_ + other, other_count);
    tell(0);
    wait(0);
    mean_kernel<<<132, 512, 0, stream_>>>(reinterpret_cast<float4*>(gradients_ + own),
                                          reinterpret_cast<float4*>(inbox_ + own), own_count / 4, !own_half_only);
    nn::check_launch("mean_kernel");
    if (!own_half_only) {
      tell(1);
      wait(1);
      copy(gradients_ + other, theirs_ + other, other_count);
    }
    sent_ = range.end, ++bucket_;
  }
  // own, theirs: what this rank has updated of bucket `i`, and the place of the same in the other rank's weights, which nothing
  // there reads any more.
  void give(std::size_t i, const void* own, void* theirs, std::size_t bytes) {
    nn::check(cudaEventRecord(event_, compute_), "recording");
    nn::check(cudaStreamWaitEvent(stream_, event_), "waiting");
    nn::check(cudaMemcpyAsync(theirs, own, bytes, cudaMemcpyDefault, stream_), "a copy over the link");
    bucket_ = i;
    tell(1);
  }
  // What the other rank gives of so many buckets has come.
  void finish_given(std::size_t buckets) {
    for (bucket_ = 0; bucket_ < buckets; ++bucket_) wait(1);
    finish();
  }
  void finish() {
    nn::check(cudaEventRecord(event_, stream_), "recording");
    nn::check(cudaStreamWaitEvent(compute_, event_), "waiting");
    sent_ = 0, bucket_ = 0;
  }

 private:
  static constexpr std::size_t kMost = 512;  // buckets

#ifndef RIDGE_SIMT
  template <class F>
  static F driver(const char* name) {
    void* p = nullptr;
    cudaDriverEntryPointQueryResult found;
    nn::check(cudaGetDriverEntryPointByVersion(name, &p, 12000, cudaEnableDefault, &found), name);
    return reinterpret_cast<F>(p);
  }
#endif
  void copy(float* to, const float* from, std::size_t count) {
    nn::check(cudaMemcpyAsync(to, from, count * sizeof(float), cudaMemcpyDefault, stream_), "a copy over the link");
  }
  std::uint32_t* flag(float* inbox, int which) const {
    return reinterpret_cast<std::uint32_t*>(inbox + elements_) + 2 * bucket_ + static_cast<std::size_t>(which);
  }
  void tell(int which) {
    nn::check(cudaMemcpyAsync(flag(theirs_, which), one_, sizeof(std::uint32_t), cudaMemcpyDefault, stream_), "a flag");
  }
  void wait(int which) {
    if (wait_in_kernels) {
      wait_kernel<<<1, 1, 0, stream_>>>(flag(inbox_, which));
      return nn::check_launch("wait_kernel");
    }
#ifdef RIDGE_SIMT
    throw std::runtime_error("streams of the emulator do not wait for values in memory: use --peer-kernels");
#else
    static const auto wait_value = driver<decltype(&cuStreamWaitValue32)>("cuStreamWaitValue32");
    static const auto write_value = driver<decltype(&cuStreamWriteValue32)>("cuStreamWriteValue32");
    const auto at = reinterpret_cast<CUdeviceptr>(flag(inbox_, which));
    if (wait_value(stream_, at, 1, CU_STREAM_WAIT_VALUE_EQ) != CUDA_SUCCESS ||
        write_value(stream_, at, 0, CU_STREAM_WRITE_VALUE_DEFAULT) != CUDA_SUCCESS)
      throw std::runtime_error("this stream cannot wait for a value in memory");
#endif
  }

  float* gradients_;
  std::size_t elements_, least_, sent_ = 0, bucket_ = 0;
  int rank_;
  cudaStream_t compute_, stream_ = nullptr;
  cudaEvent_t event_ = nullptr;
  float *inbox_ = nullptr, *theirs_ = nullptr;  // (elements), and behind it the flags: ours, the other rank's
  std::uint32_t* one_ = nullptr;
};

}  // namespace bench
