// Stream capture: one stream, fork and join, replays, and what is refused.
#include "check.hpp"

constexpr int kN = 256;

__global__ void add_one(int* p) { p[threadIdx.x] += 1; }
__global__ void twice(int* p) { p[threadIdx.x] *= 2; }
__global__ void combine(int* to, const int* a, const int* b) { to[threadIdx.x] = a[threadIdx.x] + 10 * b[threadIdx.x]; }

int *a, *b, *c;
int host[kN];

int value_of(const int* p) {
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  for (int v : host) expect(v == host[0], "all elements are equal");
  return host[0];
}

cudaStreamCaptureStatus status_of(cudaStream_t s) {
  cudaStreamCaptureStatus status;
  expect_error(cudaStreamIsCapturing(s, &status), cudaSuccess, "is it capturing");
  return status;
}

int main() {
  for (int** p : {&a, &b, &c}) {
    cudaMalloc(p, sizeof host);
    cudaMemset(*p, 0, sizeof host);
  }
  cudaStream_t one, two;
  cudaStreamCreate(&one);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  cudaEvent_t fork, join;
  cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
  cudaDeviceSynchronize();

  // Nothing runs while it is captured.
  cudaGraph_t graph;
  expect(status_of(one) == cudaStreamCaptureStatusNone, "not capturing");
  expect_error(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal), cudaSuccess, "begin");
  expect(status_of(one) == cudaStreamCaptureStatusActive, "capturing");
  add_one<<<1, kN, 0, one>>>(a);
  cudaEventRecord(fork, one);
  cudaStreamWaitEvent(two, fork, 0);
  expect(status_of(two) == cudaStreamCaptureStatusActive, "the second stream has joined");
  add_one<<<1, kN, 0, two>>>(b);
  add_one<<<1, kN, 0, two>>>(b);
  twice<<<1, kN, 0, one>>>(a);
  cudaEventRecord(join, two);
  cudaStreamWaitEvent(one, join, 0);
  combine<<<1, kN, 0, one>>>(c, a, b);
  expect_error(cudaStreamEndCapture(one, &graph), cudaSuccess, "end");
  expect(status_of(two) == cudaStreamCaptureStatusNone, "both streams are free again");
  expect_error(cudaStreamSynchronize(one), cudaSuccess, "synchronise");
  expect(value_of(a) == 0 && value_of(b) == 0 && value_of(c) == 0, "nothing has run yet");

  size_t nodes = 0, edges = 0;
  expect_error(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess, "nodes");
  expect(nodes == 5, "five kernels");
  cudaGraphNode_t list[5];
  cudaGraphGetNodes(graph, list, &nodes);
  for (cudaGraphNode_t n : list) {
    cudaGraphNodeType type;
    expect_error(cudaGraphNodeGetType(n, &type), cudaSuccess, "type");
    expect(type == cudaGraphNodeTypeKernel, "type");
  }
  expect_error(cudaGraphGetRootNodes(graph, nullptr, &edges), cudaSuccess, "roots");
  expect(edges == 1, "one root");

  cudaGraphExec_t exec;
  expect_error(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess, "instantiate");
  for (int i = 0; i < 3; ++i) expect_error(cudaGraphLaunch(exec, one), cudaSuccess, "launch");
  cudaStreamSynchronize(one);
  expect(value_of(a) == 14, "a: ((0 + 1) * 2 + 1) * 2 ...");
  expect(value_of(b) == 6, "b");
  expect(value_of(c) == 74, "c");

  // Later work of the stream waits for the graph.
  cudaGraphLaunch(exec, one);
  add_one<<<1, kN, 0, one>>>(c);
  cudaStreamSynchronize(one);
  expect(value_of(c) == 30 + 80 + 1, "a kernel after the graph");
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);

  // A copy and a memset in a graph read and write at the launch.
  int *pinned, *copied;
  cudaMallocHost(&pinned, sizeof host);
  cudaMallocHost(&copied, sizeof host);
  cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal);
  cudaMemcpyAsync(a, pinned, sizeof host, cudaMemcpyHostToDevice, one);
  cudaMemsetAsync(b, 0, sizeof host, one);
  add_one<<<1, kN, 0, one>>>(a);
  cudaMemcpyAsync(copied, a, sizeof host, cudaMemcpyDeviceToHost, one);
  expect_error(cudaStreamEndCapture(one, &graph), cudaSuccess, "end");
  expect_error(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess, "instantiate");
  for (int round = 1; round < 4; ++round) {
    for (int i = 0; i < kN; ++i) pinned[i] = round;
    cudaGraphLaunch(exec, one);
    cudaStreamSynchronize(one);
    for (int i = 0; i < kN; ++i) expect(copied[i] == round + 1, "copies in a graph");
  }
  expect(value_of(b) == 0, "memset in a graph");
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);

  // What ends a capture.
  cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal);
  expect_error(cudaStreamSynchronize(one), cudaErrorStreamCaptureUnsupported, "synchronise a captured stream");
  expect(status_of(one) == cudaStreamCaptureStatusInvalidated, "the capture is lost");
  expect_error(cudaStreamEndCapture(one, &graph), cudaErrorStreamCaptureInvalidated, "and ends with an error");
  expect(graph == nullptr, "without a graph");

  cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal);
  void* p;
  expect_error(cudaMalloc(&p, 16), cudaErrorStreamCaptureUnsupported, "malloc");
  expect_error(cudaStreamEndCapture(one, &graph), cudaErrorStreamCaptureInvalidated, "after malloc");
  cudaStreamBeginCapture(one, cudaStreamCaptureModeRelaxed);
  expect_error(cudaMalloc(&p, 16), cudaSuccess, "malloc in a relaxed capture");
  expect_error(cudaStreamEndCapture(one, &graph), cudaSuccess, "it goes on");
  cudaGraphDestroy(graph);

  cudaStreamBeginCapture(one, cudaStreamCaptureModeRelaxed);
  expect_error(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported, "wait for the device");
  expect_error(cudaStreamEndCapture(one, &graph), cudaErrorStreamCaptureInvalidated, "after that wait");

  cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal);
  add_one<<<1, kN>>>(a);
  expect_error(cudaGetLastError(), cudaErrorStreamCaptureImplicit, "the default stream would wait for the capture");
  expect_error(cudaStreamEndCapture(one, &graph), cudaErrorStreamCaptureInvalidated, "after that launch");

  cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal);
  cudaEventRecord(fork, one);
  cudaStreamWaitEvent(two, fork, 0);
  add_one<<<1, kN, 0, two>>>(a);
  expect_error(cudaStreamEndCapture(one, &graph), cudaErrorStreamCaptureUnjoined, "a stream that never came back");

  cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal);
  cudaEventRecord(fork, one);
  expect_error(cudaEventQuery(fork), cudaErrorCapturedEvent, "query of a captured event");
  expect_error(cudaStreamEndCapture(one, &graph), cudaErrorStreamCaptureInvalidated, "after that query");
  cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal);
  expect_error(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal), cudaErrorIllegalState, "begin twice");
  expect_error(cudaStreamEndCapture(one, &graph), cudaSuccess, "the first one goes on");
  cudaGraphDestroy(graph);

  expect_error(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported,
               "the default stream");
  expect_error(cudaStreamEndCapture(one, &graph), cudaErrorIllegalState, "end without a begin");
  while (cudaGetLastError() != cudaSuccess) {
  }
  add_one<<<1, kN, 0, one>>>(b);
  expect_error(cudaStreamSynchronize(one), cudaSuccess, "the streams work again");
  expect(value_of(b) == 1, "the streams work again");
  for (int* q : {a, b, c}) cudaFree(q);
  for (int* q : {pinned, copied}) cudaFreeHost(q);
  cudaFree(p);
  std::puts("ok");
}
