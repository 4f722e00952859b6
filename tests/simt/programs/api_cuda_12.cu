// Names and forms of CUDA 12 that CUDA 13 has not.
#include "check.hpp"

// v: n numbers
__global__ void add_one(int* v, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) v[i] += 1;
}

int main() {
  const int n = 1000;
  int* v = nullptr;
  expect_error(cudaMallocManaged(&v, n * sizeof(int)), cudaSuccess, "cudaMallocManaged(&v, n * sizeof(int))");
  for (int i = 0; i < n; ++i) v[i] = i;
  int device = 0;
  expect_error(cudaGetDevice(&device), cudaSuccess, "cudaGetDevice(&device)");
  expect_error(cudaMemAdvise(v, n * sizeof(int), cudaMemAdviseSetPreferredLocation, device), cudaSuccess, "cudaMemAdvise(v, n * sizeof(int), cudaMemAdviseSetPreferredLocation, device)");
  expect_error(cudaMemPrefetchAsync(v, n * sizeof(int), device, 0), cudaSuccess, "cudaMemPrefetchAsync(v, n * sizeof(int), device, 0)");
  expect_error(cudaFuncSetSharedMemConfig(add_one, cudaSharedMemBankSizeEightByte), cudaSuccess, "cudaFuncSetSharedMemConfig(add_one, cudaSharedMemBankSizeEightByte)");
  add_one<<<(n + 255) / 256, 256>>>(v, n);
  expect_error(cudaMemPrefetchAsync(v, n * sizeof(int), cudaCpuDeviceId), cudaSuccess, "cudaMemPrefetchAsync(v, n * sizeof(int), cudaCpuDeviceId)");
  expect_error(cudaThreadSynchronize(), cudaSuccess, "cudaThreadSynchronize()");
  for (int i = 0; i < n; ++i) expect(v[i] == i + 1, "v[i] == i + 1");

  cudaDeviceProp prop;
  expect_error(cudaGetDeviceProperties(&prop, 0), cudaSuccess, "cudaGetDeviceProperties(&prop, 0)");
  expect(prop.clockRate > 100000 && prop.memoryClockRate > 100000, "prop.clockRate > 100000 && prop.memoryClockRate > 100000");
  expect(prop.deviceOverlap == 1 && prop.computeMode == cudaComputeModeDefault && prop.kernelExecTimeoutEnabled == 0, "prop.deviceOverlap == 1 && prop.computeMode == cudaComputeModeDefault && prop.kernelExecTimeoutEnabled == 0");

  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t first, second, error = nullptr;
  expect_error(cudaGraphCreate(&graph, 0), cudaSuccess, "cudaGraphCreate(&graph, 0)");
  expect_error(cudaGraphAddEmptyNode(&first, graph, nullptr, 0), cudaSuccess, "cudaGraphAddEmptyNode(&first, graph, nullptr, 0)");
  expect_error(cudaGraphAddEmptyNode(&second, graph, nullptr, 0), cudaSuccess, "cudaGraphAddEmptyNode(&second, graph, nullptr, 0)");
  expect_error(cudaGraphAddDependencies(graph, &first, &second, 1), cudaSuccess, "cudaGraphAddDependencies(graph, &first, &second, 1)");
  size_t edges = 0, before = 0;
  expect_error(cudaGraphGetEdges(graph, nullptr, nullptr, &edges), cudaSuccess, "cudaGraphGetEdges(graph, nullptr, nullptr, &edges)");
  expect_error(cudaGraphNodeGetDependencies(second, nullptr, &before), cudaSuccess, "cudaGraphNodeGetDependencies(second, nullptr, &before)");
  expect(edges == 1 && before == 1, "edges == 1 && before == 1");
  char log[64];
  expect_error(cudaGraphInstantiate(&exec, graph, &error, log, sizeof log), cudaSuccess, "cudaGraphInstantiate(&exec, graph, &error, log, sizeof log)");
  expect(error == nullptr && log[0] == 0, "error == nullptr && log[0] == 0");
  cudaGraphExecUpdateResult result;
  expect_error(cudaGraphExecUpdate(exec, graph, &error, &result), cudaSuccess, "cudaGraphExecUpdate(exec, graph, &error, &result)");
  expect(result == cudaGraphExecUpdateSuccess, "result == cudaGraphExecUpdateSuccess");
  expect_error(cudaGraphExecDestroy(exec), cudaSuccess, "cudaGraphExecDestroy(exec)");
  expect_error(cudaGraphDestroy(graph), cudaSuccess, "cudaGraphDestroy(graph)");
  expect_error(cudaFree(v), cudaSuccess, "cudaFree(v)");
  expect_error(cudaThreadExit(), cudaSuccess, "cudaThreadExit()");
  std::puts("ok");
}
