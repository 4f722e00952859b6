// Lab 05, task `decode`: many small kernels, one launch a step.
//
// A step of the network is 2 layers + 1 kernels of a few microseconds, and a launch costs the host about three. A graph is
// captured once and launched with one call; what changes from step to step is a parameter.
// Run: ./ridge check 05 --task decode
#include "streams.hpp"

constexpr int kWarp = 32, kRowsOfBlock = 8;

// Called first in each kernel; does nothing in a plain launch. From sm_90 on a launch may set its kernel up while the kernel
// before it runs (programmatic dependent launch). This call then lets the next kernel start, and waits for its own input.
__device__ inline void take_turn() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
}

// w: dim x dim, h, v: dim floats. v = W h, a warp for each row.
__global__ void matvec_kernel(const float* w, const float* h, float* v, int dim) {
  take_turn();
  const int row = static_cast<int>(blockIdx.x) * kRowsOfBlock + static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  if (row >= dim) return;
  float sum = 0;
  for (int c = lane; c < dim; c += kWarp) sum += w[static_cast<std::size_t>(row) * dim + c] * h[c];
  for (int d = kWarp / 2; d > 0; d /= 2) sum += __shfl_down_sync(0xFFFFFFFF, sum, static_cast<unsigned>(d));
  if (lane == 0) v[row] = sum;
}

// v, h: dim floats. h = act(v).
__global__ void act_kernel(const float* v, float* h, int dim) {
  take_turn();
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < dim) h[i] = v[i] / (1 + fabsf(v[i]));
}

// h, out, next: dim floats. Stores the step's answer and makes the next step's input.
__global__ void emit_kernel(const float* h, float* out, float* next, int dim, int step) {
  take_turn();
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= dim) return;
  out[i] = h[i];
  next[i] = 0.5f * h[i] + ((i + step) % 3 == 0 ? 0.25f : -0.125f);
}

// TASK(decode)
// One step as a graph, what it was made from, and there the node that takes what changes.
struct Step {
  cudaGraphExec_t graph = nullptr;
  cudaGraph_t captured = nullptr;  // its nodes name those of `graph`: kept as long
  cudaGraphNode_t emit = nullptr;
};

// The node that was captured last: what the next one would wait for.
cudaGraphNode_t last_node(cudaStream_t stream) {
  cudaStreamCaptureStatus status;
  const cudaGraphNode_t* last = nullptr;
  std::size_t count = 0;
  const cudaGraphEdgeData* edges = nullptr;  // asked for: they tell a dependent launch from a plain one
#if CUDART_VERSION >= 13000
  cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &last, &edges, &count);
#else
  cudaStreamGetCaptureInfo_v3(stream, &status, nullptr, nullptr, &last, &edges, &count);
#endif
  return last[0];
}

// A launch whose kernel may be set up before the last one has ended: its blocks are there when their input is.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, cudaStream_t stream,
            Arguments... arguments) {
  static const bool able = [] {
    int device = 0, major = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    return major >= 9;
  }();
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = dim3(blocks);
  configuration.blockDim = dim3(threads);
  configuration.stream = stream;
  configuration.attrs = &early;
  configuration.numAttrs = able ? 1 : 0;
  cudaLaunchKernelEx(&configuration, kernel, arguments...);
}

// Captures a step that reads x. The emit kernel is its last node.
Step capture(const float* weights, float* x, float* h, float* v, float* out, int layers, int dim, cudaStream_t stream) {
  const auto rows = static_cast<unsigned>((dim + kRowsOfBlock - 1) / kRowsOfBlock);
  const auto blocks = static_cast<unsigned>((dim + 255) / 256);
  const std::size_t matrix = static_cast<std::size_t>(dim) * static_cast<std::size_t>(dim);
  Step step;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  for (int l = 0; l < layers; ++l) {
    launch(matvec_kernel, rows, kRowsOfBlock * kWarp, stream, weights + l * matrix, l == 0 ? x : h, v, dim);
    launch(act_kernel, blocks, 256, stream, v, h, dim);
  }
  launch(emit_kernel, blocks, 256, stream, h, out, x, dim, 0);
  step.emit = last_node(stream);
  cudaStreamEndCapture(stream, &step.captured);
  cudaGraphInstantiate(&step.graph, step.captured, 0);
  return step;
}

void decode(const float* weights, const float* start, float* out, int layers, int dim, int steps, void* workspace,
            std::size_t, cudaStream_t stream) {
  auto* x = static_cast<float*>(workspace);
  float *h = x + dim, *v = h + dim;
  cudaMemcpyAsync(x, start, static_cast<std::size_t>(dim) * sizeof(float), cudaMemcpyDeviceToDevice, stream);
  // Buffers differ from call to call, so the graph is this call's.
  Step step = capture(weights, x, h, v, out, layers, dim, stream);
  cudaKernelNodeParams parameters{};
  parameters.func = reinterpret_cast<void*>(emit_kernel);
  parameters.gridDim = dim3(static_cast<unsigned>((dim + 255) / 256));
  parameters.blockDim = dim3(256);
  for (int t = 0; t < steps; ++t) {
    float* row = out + static_cast<std::size_t>(t) * dim;
    void* arguments[] = {&h, &row, &x, &dim, &t};
    parameters.kernelParams = arguments;  // copied by the call
    cudaGraphExecKernelNodeSetParams(step.graph, step.emit, &parameters);
    cudaGraphLaunch(step.graph, stream);  // launches that run already keep their parameters
  }
  cudaGraphExecDestroy(step.graph);  // when the last one has ended
  cudaGraphDestroy(step.captured);
}
// END(decode)
