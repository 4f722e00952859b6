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
  expect_error(cudaMallocManaged(&v, n * sizeof(int)), cudaSuccess, "MallocManaged");
  for (int i = 0; i < n; ++i) v[i] = i;
  int device = 0;
  expect_error(cudaGetDevice(&device), cudaSuccess, "GetDevice");
  expect_error(cudaMemAdvise(v, n * sizeof(int), cudaMemAdviseSetPreferredLocation, device), cudaSuccess, "MemAdvise");
  expect_error(cudaMemPrefetchAsync(v, n * sizeof(int), device, 0), cudaSuccess, "MemPrefetchAsync");
  expect_error(cudaFuncSetSharedMemConfig(add_one, cudaSharedMemBankSizeEightByte), cudaSuccess,
               "FuncSetSharedMemConfig");
  add_one<<<(n + 255) / 256, 256>>>(v, n);
  expect_error(cudaMemPrefetchAsync(v, n * sizeof(int), cudaCpuDeviceId), cudaSuccess, "MemPrefetchAsync");
  expect_error(cudaThreadSynchronize(), cudaSuccess, "ThreadSynchronize");
  for (int i = 0; i < n; ++i) expect(v[i] == i + 1, "v[i] == i + 1");

  cudaDeviceProp prop;
  expect_error(cudaGetDeviceProperties(&prop, 0), cudaSuccess, "GetDeviceProperties");
  expect(prop.clockRate > 100000 && prop.memoryClockRate > 100000, "clocks in kHz");
  expect(prop.deviceOverlap == 1 && prop.computeMode == cudaComputeModeDefault && prop.kernelExecTimeoutEnabled == 0,
         "properties");

  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t first, second, error = nullptr;
  expect_error(cudaGraphCreate(&graph, 0), cudaSuccess, "GraphCreate");
  expect_error(cudaGraphAddEmptyNode(&first, graph, nullptr, 0), cudaSuccess, "GraphAddEmptyNode");
  expect_error(cudaGraphAddEmptyNode(&second, graph, nullptr, 0), cudaSuccess, "GraphAddEmptyNode");
  expect_error(cudaGraphAddDependencies(graph, &first, &second, 1), cudaSuccess, "GraphAddDependencies");
  size_t edges = 0, before = 0;
  expect_error(cudaGraphGetEdges(graph, nullptr, nullptr, &edges), cudaSuccess, "GraphGetEdges");
  expect_error(cudaGraphNodeGetDependencies(second, nullptr, &before), cudaSuccess, "GraphNodeGetDependencies");
  expect(edges == 1 && before == 1, "edges == 1 && before == 1");
  char log[64];
  expect_error(cudaGraphInstantiate(&exec, graph, &error, log, sizeof log), cudaSuccess, "GraphInstantiate");
  expect(error == nullptr && log[0] == 0, "error == nullptr && log[0] == 0");
  cudaGraphExecUpdateResult result;
  expect_error(cudaGraphExecUpdate(exec, graph, &error, &result), cudaSuccess, "GraphExecUpdate");
  expect(result == cudaGraphExecUpdateSuccess, "result == cudaGraphExecUpdateSuccess");
  expect_error(cudaGraphExecDestroy(exec), cudaSuccess, "GraphExecDestroy");
  expect_error(cudaGraphDestroy(graph), cudaSuccess, "GraphDestroy");
  expect_error(cudaFree(v), cudaSuccess, "Free");
  expect_error(cudaThreadExit(), cudaSuccess, "ThreadExit");
  std::puts("ok");
}
