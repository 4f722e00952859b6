// replaces: decode.cu; task: decode; step: 2; idea: the layers are a graph, captured once for each call
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

// What is the same in each step is one launch. The last kernel of a step writes elsewhere each time: it stays a launch
// of its own, and costs nearly as much as the graph of all others. The solution takes it into the graph and sets its
// parameters.
void decode(const float* weights, const float* start, float* out, int layers, int dim, int steps, void* workspace,
            std::size_t, cudaStream_t stream) {
  auto* x = static_cast<float*>(workspace);
  float *h = x + dim, *v = h + dim;
  const auto rows = static_cast<unsigned>((dim + kRowsOfBlock - 1) / kRowsOfBlock);
  const auto blocks = static_cast<unsigned>((dim + 255) / 256);
  const std::size_t matrix = static_cast<std::size_t>(dim) * static_cast<std::size_t>(dim);
  cudaMemcpyAsync(x, start, static_cast<std::size_t>(dim) * sizeof(float), cudaMemcpyDeviceToDevice, stream);

  cudaGraph_t graph;
  cudaGraphExec_t all_layers;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  for (int l = 0; l < layers; ++l) {
    matvec_kernel<<<rows, kRowsOfBlock * kWarp, 0, stream>>>(weights + l * matrix, l == 0 ? x : h, v, dim);
    act_kernel<<<blocks, 256, 0, stream>>>(v, h, dim);
  }
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&all_layers, graph, 0);
  cudaGraphDestroy(graph);

  for (int t = 0; t < steps; ++t) {
    cudaGraphLaunch(all_layers, stream);
    emit_kernel<<<blocks, 256, 0, stream>>>(h, out + static_cast<std::size_t>(t) * dim, x, dim, t);
  }
  cudaGraphExecDestroy(all_layers);  // when the last one has ended
}
