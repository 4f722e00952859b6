// replaces: decode.cu; task: decode; step: 3; idea: a whole step is a graph, and its last kernel gets new parameters for each launch
#include "streams.hpp"

constexpr int kWarp = 32, kRowsOfBlock = 8;

// w: dim x dim, h, v: dim floats. v = W h, a warp for each row.
__global__ void matvec_kernel(const float* w, const float* h, float* v, int dim) {
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
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < dim) h[i] = v[i] / (1 + fabsf(v[i]));
}

// h, out, next: dim floats. Stores the step's answer and makes the next step's input.
__global__ void emit_kernel(const float* h, float* out, float* next, int dim, int step) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= dim) return;
  out[i] = h[i];
  next[i] = 0.5f * h[i] + ((i + step) % 3 == 0 ? 0.25f : -0.125f);
}

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
#if CUDART_VERSION >= 13000
  cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &last, nullptr, &count);
#else
  cudaStreamGetCaptureInfo_v2(stream, &status, nullptr, nullptr, &last, &count);
#endif
  return last[0];
}

// Captures a step that reads x. The emit kernel is its last node.
Step capture(const float* weights, float* x, float* h, float* v, float* out, int layers, int dim, cudaStream_t stream) {
  const auto rows = static_cast<unsigned>((dim + kRowsOfBlock - 1) / kRowsOfBlock);
  const auto blocks = static_cast<unsigned>((dim + 255) / 256);
  const std::size_t matrix = static_cast<std::size_t>(dim) * static_cast<std::size_t>(dim);
  Step step;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  for (int l = 0; l < layers; ++l) {
    matvec_kernel<<<rows, kRowsOfBlock * kWarp, 0, stream>>>(weights + l * matrix, l == 0 ? x : h, v, dim);
    act_kernel<<<blocks, 256, 0, stream>>>(v, h, dim);
  }
  emit_kernel<<<blocks, 256, 0, stream>>>(h, out, x, dim, 0);
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
