// cudaLaunchKernelEx: attributes, dynamic shared memory, streams, and captured chains with programmatic dependent launch.
#include <cooperative_groups.h>

#include "check.hpp"

constexpr int kN = 256, kBlock = 64, kSteps = 4;
constexpr unsigned kBlocks = kN / kBlock;

enum Letter : unsigned char { kA = 1, kB = 2 };
struct Pair {
  double first;
  Letter second;
};

// Of a chain: lets the next kernel start, and waits for the one before.
__global__ void step(float* x, const float* by) {
  cudaTriggerProgrammaticLaunchCompletion();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float mine = by[i];  // older than the chain
  cudaGridDependencySynchronize();
  x[i] = 2 * x[i] + mine;
}
__global__ void emit(const float* x, float* row, int number) {
  cudaGridDependencySynchronize();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  row[i] = x[i] + static_cast<float>(number);
}
__global__ void mixed(float* out, char a, float b, Pair pair, const void* p, long long d) {
  if (threadIdx.x == 0)
    out[0] = a + b + static_cast<float>(pair.first) + pair.second + (p == out) + static_cast<float>(d);
}
__global__ void nothing() {}
template <int kFactor>
__global__ void scaled(float* out, const float* in) {
  __shared__ float reversed[kBlock];
  reversed[kBlock - 1 - threadIdx.x] = in[blockIdx.x * kBlock + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * kBlock + threadIdx.x] = kFactor * reversed[threadIdx.x];
}
__global__ void through_shared(float* x, int n) {
  extern __shared__ float buffer[];
  for (int i = static_cast<int>(threadIdx.x); i < n; i += kBlock) buffer[i] = static_cast<float>(i);
  __syncthreads();
  if (threadIdx.x == 0) x[0] = buffer[n - 1];
}
// Every block reads what another has written.
__global__ void neighbours(float* x) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = static_cast<float>(i);
  cooperative_groups::this_grid().sync();
  const float other = x[(i + kBlock) % kN];
  cooperative_groups::this_grid().sync();
  x[i] = other;
}

float *x, *y, *rows;
float host[kN * kSteps];

cudaLaunchConfig_t config_of(cudaStream_t stream, cudaLaunchAttribute* attributes = nullptr, unsigned count = 0) {
  cudaLaunchConfig_t config = {};
  config.gridDim = kBlocks;
  config.blockDim = dim3(kBlock);
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = count;
  return config;
}

cudaLaunchAttribute programmatic() {
  cudaLaunchAttribute a = {};
  a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  a.val.programmaticStreamSerializationAllowed = 1;
  return a;
}

const float* read(const float* from, int n = kN) {
  cudaMemcpy(host, from, static_cast<size_t>(n) * sizeof(float), cudaMemcpyDeviceToHost);
  return host;
}

void plain_launches(cudaStream_t stream) {
  // Arguments become what the kernel takes.
  cudaLaunchConfig_t config = config_of(stream);
  const double b = 0.5;
  const Pair pair = {4, kB};
  expect_error(cudaLaunchKernelEx(&config, mixed, x, 1, b, pair, x, 16u), cudaSuccess, "conversions");
  expect_error(cudaStreamSynchronize(stream), cudaSuccess, "synchronise");
  expect(read(x)[0] == 1 + 0.5f + 4 + 2 + 1 + 16, "converted arguments");
  expect_error(cudaLaunchKernelEx(&config, nothing), cudaSuccess, "no arguments");
  expect_error(cudaLaunchKernelExC(&config, (const void*)nothing, nullptr), cudaSuccess, "no arguments, by address");
  expect_error(cudaLaunchKernelExC(&config, nullptr, nullptr), cudaErrorInvalidDeviceFunction, "no kernel");
  expect_error(cudaGetLastError(), cudaErrorInvalidDeviceFunction, "it is the last error");

  // Three launches of one kernel, counted alike (test_programs.cpp).
  for (int i = 0; i < 2; ++i) scaled<3><<<kBlocks, kBlock, 0, stream>>>(x, y);
  expect_error(cudaLaunchKernelEx(&config, scaled<3>, x, y), cudaSuccess, "a template");
  cudaStreamSynchronize(stream);
  read(x);
  for (int i = 0; i < kN; ++i) expect(host[i] == 3.0f * static_cast<float>(i ^ (kBlock - 1)), "a template");

  // Dynamic shared memory, more than 48 KiB of it, in the default stream.
  int n = 20000;
  config = config_of(nullptr);
  config.gridDim = 1;
  config.dynamicSmemBytes = static_cast<size_t>(n) * sizeof(float);
  expect_error(cudaLaunchKernelEx(&config, through_shared, x, n), cudaErrorInvalidValue, "80000 bytes unasked");
  cudaGetLastError();
  cudaFuncSetAttribute(through_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 80000);
  void* arguments[] = {&x, &n};
  expect_error(cudaLaunchKernelExC(&config, (const void*)through_shared, arguments), cudaSuccess, "80000 bytes");
  n = 7;  // the launch has its own
  expect(read(x)[0] == 19999, "dynamic shared memory");
  config.blockDim.x = 2048;
  expect_error(cudaLaunchKernelEx(&config, nothing), cudaErrorInvalidValue, "too many threads");
  cudaGetLastError();
}

void attributes(cudaStream_t stream) {
  cudaLaunchAttribute all[4] = {};
  all[0].id = cudaLaunchAttributeIgnore;
  all[1].id = cudaLaunchAttributePriority;
  all[1].val.priority = -1;
  all[2].id = cudaLaunchAttributeClusterDimension;
  all[2].val.clusterDim.x = all[2].val.clusterDim.y = all[2].val.clusterDim.z = 1;
  all[3].id = cudaLaunchAttributeCooperative;
  all[3].val.cooperative = 1;
  cudaLaunchConfig_t config = config_of(stream, all, 4);
  expect_error(cudaLaunchKernelEx(&config, neighbours, x), cudaSuccess, "cooperative");
  cudaStreamSynchronize(stream);
  read(x);
  for (int i = 0; i < kN; ++i) expect(host[i] == static_cast<float>((i + kBlock) % kN), "all blocks met");
  config.gridDim.x = 1000000;
  expect_error(cudaLaunchKernelEx(&config, neighbours, x), cudaErrorCooperativeLaunchTooLarge,
               "too many blocks at once");
  config.numAttrs = 2;
  config.gridDim.x = kBlocks;
  expect_error(cudaLaunchKernelEx(&config, nothing), cudaSuccess, "the first two only");
  all[1] = {};
  all[1].id = cudaLaunchAttributeClusterDimension;
  expect_error(cudaLaunchKernelEx(&config, nothing), cudaSuccess, "no clusters");
  for (int id : {static_cast<int>(cudaLaunchAttributeSynchronizationPolicy), 99}) {
    all[1].id = static_cast<cudaLaunchAttributeID>(id);
    expect_error(cudaLaunchKernelEx(&config, nothing), cudaErrorInvalidValue, "not an attribute of a launch");
  }
#ifdef RIDGE_SIMT
  all[1] = all[2];
  all[1].val.clusterDim.x = 16;
  expect_error(cudaLaunchKernelEx(&config, nothing), cudaErrorInvalidClusterSize, "clusters of 16 blocks");
  all[1].id = cudaLaunchAttributeProgrammaticEvent;
  expect_error(cudaLaunchKernelEx(&config, nothing), cudaErrorNotSupported, "events");
  expect_error(cudaLaunchKernelExC(nullptr, (const void*)nothing, nullptr), cudaErrorInvalidValue, "no configuration");
#endif
  cudaGetLastError();
}

// Fills x, then doubles it kSteps times with y added, and stores it: each kernel may start before the one before has ended.
void chain(cudaStream_t stream, float* row, int number, cudaGraphNode_t* nodes) {
  cudaLaunchAttribute overlap = programmatic();
  cudaLaunchConfig_t config = config_of(stream, &overlap, 1);
  cudaMemsetAsync(x, 0, kN * sizeof(float), stream);
  for (int k = 0; k <= kSteps; ++k) {
    config.numAttrs = k != 0;  // the first one follows a memset
    expect_error(
        k < kSteps ? cudaLaunchKernelEx(&config, step, x, y) : cudaLaunchKernelEx(&config, emit, x, row, number),
        cudaSuccess, "a kernel of the chain");
    if (nodes == nullptr) continue;
    cudaStreamCaptureStatus status;
    const cudaGraphNode_t* last = nullptr;
    const cudaGraphEdgeData* edges = nullptr;
    size_t count = 0;
    expect_error(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &last, &edges, &count), cudaSuccess,
                 "info");
    expect(status == cudaStreamCaptureStatusActive && count == 1, "the next one waits for one node");
    expect(edges[0].from_port == 0 && edges[0].to_port == 0 && edges[0].type == cudaGraphDependencyTypeDefault,
           "for all of it");
    nodes[k] = last[0];
  }
}

void expect_row(int r, float factor, int number) {
  for (int i = 0; i < kN; ++i)
    expect(host[r * kN + i] == factor * static_cast<float>(i) + static_cast<float>(number), "a row of the chain");
}

void chains(cudaStream_t stream) {
  chain(stream, rows, 5, nullptr);
  chain(nullptr, rows + kN, 6, nullptr);  // the default stream, which waits for the other
  read(rows, 2 * kN);
  expect_row(0, 15, 5);
  expect_row(1, 15, 6);

  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t nodes[kSteps + 1];
  expect_error(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess, "begin");
  chain(stream, rows, 0, nodes);
  expect_error(cudaStreamEndCapture(stream, &graph), cudaSuccess, "end");
  size_t count = 0;
  cudaGraphGetNodes(graph, nullptr, &count);
  expect(count == kSteps + 2, "a memset and the kernels");
  for (cudaGraphNode_t n : nodes) {
    cudaGraphNodeType type;
    cudaKernelNodeParams read_back = {};
    expect_error(cudaGraphNodeGetType(n, &type), cudaSuccess, "type");
    expect(type == cudaGraphNodeTypeKernel, "a kernel node");
    expect_error(cudaGraphKernelNodeGetParams(n, &read_back), cudaSuccess, "parameters");
    expect(read_back.func == (n == nodes[kSteps] ? (void*)emit : (void*)step), "its kernel");
    expect(read_back.gridDim.x == kBlocks && read_back.blockDim.x == kBlock, "its shape");
  }
  expect_error(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess, "instantiate");

  // Each replay has another last kernel, and after the second the first step adds twice y.
  cudaKernelNodeParams parameters = {};
  parameters.gridDim = kBlocks;
  parameters.blockDim = kBlock;
  const float* twice = y + kN;
  for (int r = 0; r < kSteps; ++r) {
    float* row = rows + r * kN;
    void* last[] = {&x, &row, &r};
    parameters.func = (void*)emit;
    parameters.kernelParams = last;
    expect_error(cudaGraphExecKernelNodeSetParams(exec, nodes[kSteps], &parameters), cudaSuccess, "the last kernel");
    void* first[] = {&x, &twice};
    parameters.func = (void*)step;
    parameters.kernelParams = first;
    if (r == 2)
      expect_error(cudaGraphExecKernelNodeSetParams(exec, nodes[0], &parameters), cudaSuccess, "the first kernel");
    expect_error(cudaGraphLaunch(exec, stream), cudaSuccess, "launch");
  }
  expect_error(cudaStreamSynchronize(stream), cudaSuccess, "synchronise");
  read(rows, kN * kSteps);
  for (int r = 0; r < kSteps; ++r) expect_row(r, r < 2 ? 15 : 23, r);
  expect_error(cudaGraphExecDestroy(exec), cudaSuccess, "destroy");
  expect_error(cudaGraphDestroy(graph), cudaSuccess, "destroy");
}

// A cooperative node stays one when its parameters change.
void captured_cooperative(cudaStream_t stream) {
  cudaLaunchAttribute together = {};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  cudaLaunchConfig_t config = config_of(stream, &together, 1);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t node;
  size_t count = 1;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  expect_error(cudaLaunchKernelEx(&config, neighbours, x), cudaSuccess, "cooperative");
  expect_error(cudaStreamEndCapture(stream, &graph), cudaSuccess, "end");
  expect_error(cudaGraphGetNodes(graph, &node, &count), cudaSuccess, "nodes");
  expect_error(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess, "instantiate");
  cudaKernelNodeParams parameters = {};
  void* arguments[] = {&rows};
  parameters.func = (void*)neighbours;
  parameters.gridDim = kBlocks;
  parameters.blockDim = kBlock;
  parameters.kernelParams = arguments;
  expect_error(cudaGraphExecKernelNodeSetParams(exec, node, &parameters), cudaSuccess, "another buffer");
  expect_error(cudaGraphLaunch(exec, stream), cudaSuccess, "launch");
  expect_error(cudaStreamSynchronize(stream), cudaSuccess, "all blocks met");
  read(rows);
  for (int i = 0; i < kN; ++i) expect(host[i] == static_cast<float>((i + kBlock) % kN), "in the other buffer");
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
}

int main() {
  cudaMalloc(&x, kN * sizeof(float));
  cudaMalloc(&y, 2 * kN * sizeof(float));
  cudaMalloc(&rows, sizeof host);
  for (int i = 0; i < 2 * kN; ++i) host[i] = static_cast<float>(i < kN ? i : 2 * (i - kN));
  cudaMemcpy(y, host, 2 * kN * sizeof(float), cudaMemcpyHostToDevice);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  plain_launches(stream);
  attributes(stream);
  chains(stream);
  captured_cooperative(stream);
  cudaStreamDestroy(stream);
  for (float* p : {x, y, rows}) cudaFree(p);
  std::puts("ok");
}
