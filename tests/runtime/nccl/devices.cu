// One thread and all its devices: groups over communicators, graphs, streams, scaled sums, types, refusals.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "common.hpp"

__global__ void add(float* p, size_t n, float v) {
  const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
  if (i < n) p[i] += v;
}

int main() {
  int p = 0, version = 0;
  CUDA_CHECK(cudaGetDeviceCount(&p));
  NCCL(ncclGetVersion(&version));
  EXPECT(version == NCCL_VERSION_CODE);
  std::vector<ncclComm_t> comms(p);
  std::vector<cudaStream_t> streams(p), other(p);
  NCCL(ncclCommInitAll(comms.data(), p, nullptr));
  const size_t n = 777;
  std::vector<float*> in(p), out(p), more(p);
  for (int r = 0; r < p; ++r) {
    CUDA_CHECK(cudaSetDevice(r));
    CUDA_CHECK(cudaStreamCreate(&streams[r]));
    CUDA_CHECK(cudaStreamCreate(&other[r]));
    int device = -1;
    NCCL(ncclCommCuDevice(comms[r], &device));
    EXPECT(device == r);
    in[r] = Buffer<float>(values<float>(r, n)).data;
    out[r] = Buffer<float>(n).data;
    more[r] = Buffer<float>(n).data;
  }
  auto expect = [&](const std::vector<float*>& where, auto wanted) {
    for (int r = 0; r < p; ++r) {
      CUDA_CHECK(cudaSetDevice(r));
      CUDA_CHECK(cudaDeviceSynchronize());
      std::vector<float> h(n);
      CUDA_CHECK(cudaMemcpy(h.data(), where[r], n * sizeof(float), cudaMemcpyDeviceToHost));
      for (size_t i = 0; i < n; ++i) EXPECT(h[i] == wanted(r, i));
    }
  };

  // Behind a kernel of its stream; two collectives in a group, the second in another stream.
  for (int r = 0; r < p; ++r) {
    CUDA_CHECK(cudaSetDevice(r));
    add<<<8, 128, 0, streams[r]>>>(in[r], n, 1);
  }
  NCCL(ncclGroupStart());
  for (int r = 0; r < p; ++r) {
    NCCL(ncclAllReduce(in[r], out[r], n, ncclFloat, ncclSum, comms[r], streams[r]));
    NCCL(ncclAllReduce(in[r], more[r], n, ncclFloat, ncclProd, comms[r], other[r]));
  }
  NCCL(ncclGroupEnd());
  expect(out, [&](int, size_t i) { return sum_of_all<float>(p, i) + static_cast<float>(p); });
  expect(more, [&](int, size_t i) {
    float product = 1;
    for (int r = 0; r < p; ++r) product *= value<float>(r, i) + 1;
    return product;
  });

  // Average and scaled sums. Stream 0 is that of the communicator's device, whichever is current.
  CUDA_CHECK(cudaSetDevice(0));
  float half = 0.5f;
  std::vector<ncclRedOp_t> scaled(p);
  for (int r = 0; r < p; ++r)
    NCCL(ncclRedOpCreatePreMulSum(&scaled[r], &half, ncclFloat, ncclScalarHostImmediate, comms[r]));
  half = 100;  // it was taken at the call
  NCCL(ncclGroupStart());
  for (int r = 0; r < p; ++r) NCCL(ncclAllReduce(in[r], out[r], n, ncclFloat, scaled[r], comms[r], nullptr));
  NCCL(ncclGroupEnd());
  for (int r = 0; r < p; ++r) NCCL(ncclRedOpDestroy(scaled[r], comms[r]));
  expect(out, [&](int, size_t i) { return (sum_of_all<float>(p, i) + static_cast<float>(p)) / 2; });

  // Captured once, replayed three times.
  std::vector<cudaGraphExec_t> graphs(p);
  NCCL(ncclGroupStart());
  for (int r = 0; r < p; ++r) {
    CUDA_CHECK(cudaSetDevice(r));
    CUDA_CHECK(cudaStreamBeginCapture(streams[r], cudaStreamCaptureModeThreadLocal));
    NCCL(ncclAllReduce(in[r], out[r], n, ncclFloat, ncclSum, comms[r], streams[r]));
  }
  NCCL(ncclGroupEnd());
  for (int r = 0; r < p; ++r) {
    CUDA_CHECK(cudaSetDevice(r));
    add<<<8, 128, 0, streams[r]>>>(in[r], n, 1);
    cudaGraph_t graph;
    CUDA_CHECK(cudaStreamEndCapture(streams[r], &graph));
    CUDA_CHECK(cudaGraphInstantiate(&graphs[r], graph, 0));
  }
  for (int k = 0; k < 3; ++k)
    for (int r = 0; r < p; ++r) {
      CUDA_CHECK(cudaSetDevice(r));
      CUDA_CHECK(cudaGraphLaunch(graphs[r], streams[r]));
    }
  expect(out, [&](int, size_t i) { return sum_of_all<float>(p, i) + 3 * static_cast<float>(p); });

  // Halves are rounded at every step: 2048 + 1 is 2048 in fp16, 256 + 1 is 256 in bf16.
  std::vector<__half> ones(4, __float2half(1)), large(4, __float2half(2048));
  std::vector<__nv_bfloat16> ones_b(4, __float2bfloat16(1)), large_b(4, __float2bfloat16(256));
  std::vector<Buffer<__half>> h;
  std::vector<Buffer<__nv_bfloat16>> b;
  for (int r = 0; r < p; ++r) {
    CUDA_CHECK(cudaSetDevice(r));
    h.emplace_back(r == 0 ? large : ones);
    b.emplace_back(r == 0 ? large_b : ones_b);
  }
  NCCL(ncclGroupStart());
  for (int r = 0; r < p; ++r) {
    NCCL(ncclAllReduce(h[r].data, h[r].data, 4, ncclHalf, ncclMax, comms[r], streams[r]));
    NCCL(ncclAllReduce(b[r].data, b[r].data, 4, ncclBfloat16, ncclMax, comms[r], streams[r]));
  }
  NCCL(ncclGroupEnd());
  for (int r = 0; r < p; ++r) {
    CUDA_CHECK(cudaSetDevice(r));
    CUDA_CHECK(cudaDeviceSynchronize());
    EXPECT(__half2float(h[r].host()[3]) == 2048 && __bfloat162float(b[r].host()[3]) == 256);
  }

  // To oneself.
  CUDA_CHECK(cudaSetDevice(0));
  NCCL(ncclGroupStart());
  NCCL(ncclSend(in[0], n, ncclFloat, 0, comms[0], streams[0]));
  NCCL(ncclRecv(more[0], n, ncclFloat, 0, comms[0], streams[0]));
  NCCL(ncclGroupEnd());
  CUDA_CHECK(cudaStreamSynchronize(streams[0]));
  float self = 0;
  CUDA_CHECK(cudaMemcpy(&self, more[0], 4, cudaMemcpyDeviceToHost));
  EXPECT(self == value<float>(0, 0) + 4);

  // Nothing is sent for no elements; refusals.
  NCCL(ncclGroupStart());
  for (int r = 0; r < p; ++r) NCCL(ncclAllReduce(in[r], out[r], 0, ncclFloat, ncclSum, comms[r], streams[r]));
  NCCL(ncclGroupEnd());
  EXPECT(ncclBroadcast(in[0], out[0], n, ncclFloat, p, comms[0], streams[0]) == ncclInvalidArgument);
  EXPECT(ncclAllReduce(in[0], out[0], n, ncclNumTypes, ncclSum, comms[0], streams[0]) == ncclInvalidArgument);
  EXPECT(ncclAllReduce(in[0], out[0], n, ncclFloat, static_cast<ncclRedOp_t>(17), comms[0], streams[0]) ==
         ncclInvalidArgument);
  EXPECT(ncclAllReduce(nullptr, out[0], n, ncclFloat, ncclSum, comms[0], streams[0]) == ncclInvalidArgument);
  EXPECT(ncclAllReduce(in[0], out[0], n + 2, ncclFloat, ncclSum, comms[0], streams[0]) == ncclInvalidArgument);
  EXPECT(ncclAllReduce(in[0], out[0], n, ncclFloat, ncclSum, nullptr, streams[0]) == ncclInvalidArgument);
  EXPECT(ncclGroupEnd() == ncclInvalidUsage);
  if (p > 1) EXPECT(ncclAllReduce(in[0], out[0], n, ncclFloat, ncclSum, comms[0], streams[1]) == ncclInvalidUsage);
  ncclResult_t error = ncclInternalError;
  NCCL(ncclCommGetAsyncError(comms[0], &error));
  EXPECT(error == ncclSuccess);
  for (auto c : comms) NCCL(ncclCommDestroy(c));
  EXPECT(ncclCommDestroy(comms[0]) == ncclInvalidArgument);
  std::puts("ok");
}
