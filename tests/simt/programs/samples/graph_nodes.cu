// A graph made of every kind of node by hand: allocation, memset, copies of one and three dimensions, kernels, a host function,
// an event, a child graph; then changed, cloned, and one node switched off.
#include "../sample.hpp"

__global__ void add(int* x, int n, int v) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += v;
}

void count(void* data) { ++*static_cast<int*>(data); }

cudaGraphNode_t add_kernel(cudaGraph_t graph, const cudaGraphNode_t* after, size_t n_after, int* x, int n, int v) {
  void* arguments[] = {&x, &n, &v};
  cudaGraphNodeParams p = {cudaGraphNodeTypeKernel};
  p.kernel.func = reinterpret_cast<void*>(add);
  p.kernel.gridDim = dim3((n + 127) / 128);
  p.kernel.blockDim = dim3(128);
  p.kernel.sharedMemBytes = 0;
  p.kernel.kernelParams = arguments;
  p.kernel.extra = nullptr;
  cudaGraphNode_t node;
  CUDA_CHECK(cudaGraphAddNode(&node, graph, after, nullptr, n_after, &p));
  return node;
}

int main() {
  const int n = 256;
  std::vector<int> out(n, -1);
  int calls = 0;
  int* result = device_array<int>(n);
  cudaGraph_t graph, child;
  CUDA_CHECK(cudaGraphCreate(&graph, 0));
  CUDA_CHECK(cudaGraphCreate(&child, 0));

  cudaMemAllocNodeParams memory = {};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location.type = cudaMemLocationTypeDevice;
  memory.poolProps.location.id = 0;
  memory.bytesize = n * sizeof(int);
  cudaGraphNode_t allocate, fill, copy, host, inner, record, release;
  CUDA_CHECK(cudaGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &memory));
  int* x = static_cast<int*>(memory.dptr);

  cudaMemsetParams zeros = {};
  zeros.dst = x;
  zeros.elementSize = 4;
  zeros.width = n;
  zeros.height = 1;
  CUDA_CHECK(cudaGraphAddMemsetNode(&fill, graph, &allocate, 1, &zeros));
  const cudaGraphNode_t first = add_kernel(graph, &fill, 1, x, n, 5);
  add_kernel(child, nullptr, 0, result, n, 100);
  cudaMemcpy3DParms box = {};
  box.srcPtr = make_cudaPitchedPtr(x, n * sizeof(int), n * sizeof(int), 1);
  box.dstPtr = make_cudaPitchedPtr(result, n * sizeof(int), n * sizeof(int), 1);
  box.extent = make_cudaExtent(n * sizeof(int), 1, 1);
  box.kind = cudaMemcpyDeviceToDevice;
  CUDA_CHECK(cudaGraphAddMemcpyNode(&copy, graph, &first, 1, &box));
  CUDA_CHECK(cudaGraphAddMemFreeNode(&release, graph, &copy, 1, x));
  CUDA_CHECK(cudaGraphAddChildGraphNode(&inner, graph, &copy, 1, child));
  const cudaGraphNode_t last = add_kernel(graph, &inner, 1, result, n, 1000);
  cudaEvent_t event;
  CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CUDA_CHECK(cudaGraphAddEventRecordNode(&record, graph, &last, 1, event));
  cudaHostNodeParams call = {count, &calls};
  CUDA_CHECK(cudaGraphAddHostNode(&host, graph, &record, 1, &call));

  cudaGraphExec_t exec;
  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreate(&stream));
  CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CUDA_CHECK(cudaGraphLaunch(exec, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  expect_equal(to_host(result, n), std::vector<int>(n, 1105), "every node");
  expect(calls == 1, "the host's node");

  unsigned enabled = 9;
  CUDA_CHECK(cudaGraphNodeSetEnabled(exec, last, 0));
  CUDA_CHECK(cudaGraphNodeGetEnabled(exec, last, &enabled));
  expect(enabled == 0, "switched off");
  CUDA_CHECK(cudaGraphLaunch(exec, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  expect_equal(to_host(result, n), std::vector<int>(n, 105), "without the last kernel");
  expect(calls == 2, "the host's node, again");

  cudaEvent_t other;
  CUDA_CHECK(cudaGraphEventRecordNodeGetEvent(record, &other));
  expect(other == event, "the node's event");
  CUDA_CHECK(cudaGraphExecDestroy(exec));
  CUDA_CHECK(cudaGraphDestroy(child));
  CUDA_CHECK(cudaGraphDestroy(graph));
  CUDA_CHECK(cudaEventDestroy(event));
  CUDA_CHECK(cudaStreamDestroy(stream));
  CUDA_CHECK(cudaFree(result));
  std::puts("ok");
}
