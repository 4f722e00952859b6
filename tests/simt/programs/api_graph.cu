// A graph made by hand: nodes, edges, instantiation, launches, and new parameters.
#include "check.hpp"

constexpr int kN = 128;

__global__ void scale(int* to, const int* from, int factor) { to[threadIdx.x] = factor * from[threadIdx.x]; }
__global__ void add(int* to, const int* from) { to[threadIdx.x] += from[threadIdx.x]; }

int main() {
  int *in, *x, *y, input[kN], output[kN], calls = 0;
  for (int i = 0; i < kN; ++i) input[i] = i;
  for (int** p : {&in, &x, &y}) cudaMalloc(p, sizeof input);
  cudaStream_t stream;
  cudaStreamCreate(&stream);

  cudaGraph_t graph;
  cudaGraphNode_t copy_in, left, right, sum, copy_out, clear, call, gate;
  expect_error(cudaGraphCreate(&graph, 0), cudaSuccess, "create");
  expect_error(cudaGraphAddMemcpyNode1D(&copy_in, graph, nullptr, 0, in, input, sizeof input, cudaMemcpyHostToDevice),
               cudaSuccess, "copy in");
  cudaMemsetParams fill = {};
  fill.dst = y;
  fill.elementSize = 4;
  fill.width = kN;
  fill.height = 1;
  fill.value = 0x01020304;
  expect_error(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &fill), cudaSuccess, "fill");

  int factor = 2;
  void* left_arguments[] = {&x, &in, &factor};
  cudaKernelNodeParams kernel = {};
  kernel.func = (void*)scale;
  kernel.gridDim = dim3(1);
  kernel.blockDim = dim3(kN);
  kernel.kernelParams = left_arguments;
  expect_error(cudaGraphAddKernelNode(&left, graph, &copy_in, 1, &kernel), cudaSuccess, "left");
  factor = 5;  // the node has its own copy of the arguments
  cudaGraphNode_t both[] = {copy_in, clear};
  void* right_arguments[] = {&y, &in};
  kernel.func = (void*)add;
  kernel.kernelParams = right_arguments;
  expect_error(cudaGraphAddKernelNode(&right, graph, both, 2, &kernel), cudaSuccess, "right");
  expect_error(cudaGraphAddEmptyNode(&gate, graph, &left, 1), cudaSuccess, "gate");
  expect_error(cudaGraphAddDependencies(graph, &right, &gate, nullptr, 1), cudaSuccess, "right before the gate");
  void* sum_arguments[] = {&x, &y};
  kernel.kernelParams = sum_arguments;
  expect_error(cudaGraphAddKernelNode(&sum, graph, &gate, 1, &kernel), cudaSuccess, "sum");
  expect_error(cudaGraphAddMemcpyNode1D(&copy_out, graph, &sum, 1, output, x, sizeof output, cudaMemcpyDeviceToHost),
               cudaSuccess, "copy out");
  cudaHostNodeParams host = {};
  host.fn = [](void* p) { ++*static_cast<int*>(p); };
  host.userData = &calls;
  expect_error(cudaGraphAddHostNode(&call, graph, &copy_out, 1, &host), cudaSuccess, "host node");

  size_t count = 0;
  expect_error(cudaGraphNodeGetDependentNodes(copy_in, nullptr, nullptr, &count), cudaSuccess, "dependents");
  expect(count == 2, "two kernels wait for the copy");
  expect_error(cudaGraphRemoveDependencies(graph, &copy_in, &right, nullptr, 1), cudaSuccess, "remove an edge");
  expect_error(cudaGraphNodeGetDependencies(right, nullptr, nullptr, &count), cudaSuccess, "dependencies");
  expect(count == 1, "one of two is left");
  expect_error(cudaGraphAddDependencies(graph, &copy_in, &right, nullptr, 1), cudaSuccess, "and back again");
  cudaGraphGetNodes(graph, nullptr, &count);
  expect(count == 8, "eight nodes");
  cudaGraphNodeType type;
  expect_error(cudaGraphNodeGetType(clear, &type), cudaSuccess, "type");
  expect(type == cudaGraphNodeTypeMemset, "type");
  cudaKernelNodeParams read = {};
  expect_error(cudaGraphKernelNodeGetParams(left, &read), cudaSuccess, "parameters");
  expect(read.func == (void*)scale && read.blockDim.x == kN && read.gridDim.y == 1, "parameters");

  cudaGraphExec_t exec;
  expect_error(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess, "instantiate");
  expect_error(cudaGraphLaunch(exec, stream), cudaSuccess, "launch");
  expect_error(cudaStreamSynchronize(stream), cudaSuccess, "synchronise");
  for (int i = 0; i < kN; ++i) expect(output[i] == 2 * i + 0x01020304 + i, "first launch");
  expect(calls == 1, "the host node ran");

  // New arguments for one node of the executable graph.
  int seven = 7;
  void* new_arguments[] = {&x, &in, &seven};
  kernel.func = (void*)scale;
  kernel.kernelParams = new_arguments;
  expect_error(cudaGraphExecKernelNodeSetParams(exec, left, &kernel), cudaSuccess, "set parameters");
  cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  for (int i = 0; i < kN; ++i) expect(output[i] == 7 * i + 0x01020304 + i, "after new parameters");

  // A clone with another fill updates the executable graph as a whole; a graph of another shape cannot.
  fill.value = 0;
  cudaGraph_t clone, other;
  expect_error(cudaGraphClone(&clone, graph), cudaSuccess, "clone");
  cudaGraphExecUpdateResultInfo info;
  expect_error(cudaGraphExecUpdate(exec, clone, &info), cudaSuccess, "update");
  expect(info.result == cudaGraphExecUpdateSuccess, "update");
  expect_error(cudaGraphExecMemsetNodeSetParams(exec, clear, &fill), cudaSuccess, "new fill");
  cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  for (int i = 0; i < kN; ++i) expect(output[i] == 2 * i + i, "after the update");
  cudaGraphCreate(&other, 0);
  cudaGraphNode_t lonely;
  cudaGraphAddEmptyNode(&lonely, other, nullptr, 0);
  expect_error(cudaGraphExecUpdate(exec, other, &info), cudaErrorGraphExecUpdateFailure, "another shape");
  expect(info.result == cudaGraphExecUpdateErrorTopologyChanged, "another shape");

  // A graph in a graph.
  cudaGraph_t outer;
  cudaGraphNode_t child, last;
  cudaGraphCreate(&outer, 0);
  expect_error(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, graph), cudaSuccess, "child");
  expect_error(cudaGraphAddMemcpyNode1D(&last, outer, &child, 1, output, y, sizeof output, cudaMemcpyDeviceToHost),
               cudaSuccess, "copy after the child");
  cudaGraphExec_t outer_exec;
  expect_error(cudaGraphInstantiate(&outer_exec, outer, 0), cudaSuccess, "instantiate");
  cudaGraphLaunch(outer_exec, stream);
  cudaStreamSynchronize(stream);
  for (int i = 0; i < kN; ++i) expect(output[i] == 0x01020304 + i, "a child graph");
  expect(calls == 4, "its host node ran");

  // A node names its part of an executable graph for as long as it lives.
  cudaGraph_t short_lived;
  cudaGraphNode_t dead_kernel, dead_copy, dead_fill, dead_call, removed, late;
  cudaGraphCreate(&short_lived, 0);
  expect_error(cudaGraphAddKernelNode(&dead_kernel, short_lived, nullptr, 0, &kernel), cudaSuccess, "kernel");
  expect_error(cudaGraphAddKernelNode(&removed, short_lived, &dead_kernel, 1, &kernel), cudaSuccess, "kernel");
  expect_error(
      cudaGraphAddMemcpyNode1D(&dead_copy, short_lived, &removed, 1, output, x, sizeof output, cudaMemcpyDeviceToHost),
      cudaSuccess, "copy");
  expect_error(cudaGraphAddMemsetNode(&dead_fill, short_lived, nullptr, 0, &fill), cudaSuccess, "fill");
  expect_error(cudaGraphAddHostNode(&dead_call, short_lived, &dead_copy, 1, &host), cudaSuccess, "host node");
  cudaGraphExec_t survivor;
  expect_error(cudaGraphInstantiate(&survivor, short_lived, 0), cudaSuccess, "instantiate");
  expect_error(cudaGraphExecKernelNodeSetParams(survivor, left, &kernel), cudaErrorInvalidValue,
               "another graph's node");
  expect_error(cudaGraphExecKernelNodeSetParams(survivor, removed, &kernel), cudaSuccess, "a live node");
  expect_error(cudaGraphDestroyNode(removed), cudaSuccess, "destroy a node");
  expect_error(cudaGraphExecKernelNodeSetParams(survivor, removed, &kernel), cudaErrorInvalidValue, "destroyed node");
  expect_error(cudaGraphExecKernelNodeSetParams(survivor, dead_kernel, &kernel), cudaSuccess, "its neighbour");
  expect_error(cudaGraphDestroy(short_lived), cudaSuccess, "destroy");
  expect_error(cudaGraphExecKernelNodeSetParams(survivor, dead_kernel, &kernel), cudaErrorInvalidValue, "dead kernel");
  expect_error(
      cudaGraphExecMemcpyNodeSetParams1D(survivor, dead_copy, output, y, sizeof output, cudaMemcpyDeviceToHost),
      cudaErrorInvalidValue, "dead copy");
  expect_error(cudaGraphExecMemsetNodeSetParams(survivor, dead_fill, &fill), cudaErrorInvalidValue, "dead fill");
  expect_error(cudaGraphExecHostNodeSetParams(survivor, dead_call, &host), cudaErrorInvalidValue, "dead host node");
  // A new node may get a dead one's address; it is another node.
  cudaGraphCreate(&short_lived, 0);
  for (int i = 0; i < 8; ++i) {
    expect_error(cudaGraphAddKernelNode(&late, short_lived, nullptr, 0, &kernel), cudaSuccess, "a later node");
    expect_error(cudaGraphExecKernelNodeSetParams(survivor, late, &kernel), cudaErrorInvalidValue, "a later node");
  }
  // The executable graph is as it was.
  cudaMemset(x, 0, sizeof input);
  expect_error(cudaGraphLaunch(survivor, stream), cudaSuccess, "launch");
  expect_error(cudaStreamSynchronize(stream), cudaSuccess, "synchronise");
  for (int i = 0; i < kN; ++i) expect(output[i] == 7 * i, "it runs with its old parameters");
  expect(calls == 5, "its host node ran");
  expect_error(cudaGraphExecDestroy(survivor), cudaSuccess, "destroy");
  expect_error(cudaGraphDestroy(short_lived), cudaSuccess, "destroy");

  // Cycles and strangers are refused.
  expect_error(cudaGraphAddEmptyNode(&lonely, graph, &last, 1), cudaErrorInvalidValue, "a node of another graph");
  expect_error(cudaGraphAddDependencies(graph, &copy_out, &copy_in, nullptr, 1), cudaSuccess, "an edge back");
  cudaGraphExec_t never;
  expect_error(cudaGraphInstantiate(&never, graph, 0), cudaErrorInvalidValue, "a cycle");
  for (cudaGraph_t g : {graph, clone, other, outer}) expect_error(cudaGraphDestroy(g), cudaSuccess, "destroy");
  expect_error(cudaGraphExecDestroy(exec), cudaSuccess, "destroy");
  expect_error(cudaGraphExecDestroy(outer_exec), cudaSuccess, "destroy");
  cudaGetLastError();

  // Kernels by address.
  int factor_three = 3;
  void* arguments[] = {&x, &in, &factor_three};
  expect_error(cudaLaunchKernel(scale, dim3(1), dim3(kN), arguments, 0, stream), cudaSuccess, "typed launch");
  factor_three = 4;
  cudaStreamSynchronize(stream);
  cudaMemcpy(output, x, sizeof output, cudaMemcpyDeviceToHost);
  for (int i = 0; i < kN; ++i) expect(output[i] == 3 * i, "typed launch");
  expect_error(cudaLaunchKernel((const void*)scale, dim3(1), dim3(kN), arguments, 0, stream), cudaSuccess, "launch");
  cudaStreamSynchronize(stream);
  cudaMemcpy(output, x, sizeof output, cudaMemcpyDeviceToHost);
  for (int i = 0; i < kN; ++i) expect(output[i] == 4 * i, "launch by address");
  expect_error(cudaLaunchCooperativeKernel(scale, dim3(1), dim3(kN), arguments, 0, stream), cudaSuccess, "cooperative");
  expect_error(cudaLaunchCooperativeKernel(scale, dim3(1000000), dim3(kN), arguments, 0, stream),
               cudaErrorCooperativeLaunchTooLarge, "too many blocks at once");
  cudaGetLastError();
  for (int* q : {in, x, y}) expect_error(cudaFree(q), cudaSuccess, "free");
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "end");
  std::puts("ok");
}
