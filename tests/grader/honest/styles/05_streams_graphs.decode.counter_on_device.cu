// Style: a graph whose parameters never change: the step is counted in a __device__ variable by the last kernel.
#include "streams.hpp"

namespace {

__device__ int g_step;

// w: dim x dim, h, v: dim floats. A warp for each row, four rows a block.
__global__ void counted_matvec(const float* w, const float* h, float* v, int dim) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= dim) return;
  float sum = 0;
  for (int c = lane; c < dim; c += 32) sum += w[static_cast<std::size_t>(row) * dim + c] * h[c];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (lane == 0) v[row] = sum;
}

// v, h: dim floats
__global__ void counted_act(const float* v, float* h, int dim) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < dim) h[i] = v[i] / (1 + fabsf(v[i]));
}

// start, x: dim floats
__global__ void counted_begin(const float* start, float* x, int dim) {
  for (int i = threadIdx.x; i < dim; i += blockDim.x) x[i] = start[i];
  if (threadIdx.x == 0) g_step = 0;
}

// h, next: dim floats; out: steps x dim. One block, so that its last act is to count the step.
__global__ void counted_emit(const float* h, float* out, float* next, int dim) {
  const int step = g_step;
  for (int i = threadIdx.x; i < dim; i += blockDim.x) {
    out[static_cast<std::size_t>(step) * dim + i] = h[i];
    next[i] = 0.5f * h[i] + ((i + step) % 3 == 0 ? 0.25f : -0.125f);
  }
  __syncthreads();
  if (threadIdx.x == 0) g_step = step + 1;
}

}  // namespace

void decode(const float* weights, const float* start, float* out, int layers, int dim, int steps, void* workspace,
            std::size_t, cudaStream_t stream) {
  float* x = static_cast<float*>(workspace);
  float *h = x + dim, *v = h + dim;
  counted_begin<<<1, 256, 0, stream>>>(start, x, dim);
  cudaStream_t capture;
  cudaStreamCreateWithFlags(&capture, cudaStreamNonBlocking);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(capture, cudaStreamCaptureModeRelaxed);
  for (int l = 0; l < layers; ++l) {
    counted_matvec<<<(dim + 3) / 4, 128, 0, capture>>>(weights + static_cast<std::size_t>(l) * dim * dim,
                                                       l == 0 ? x : h, v, dim);
    counted_act<<<(dim + 255) / 256, 256, 0, capture>>>(v, h, dim);
  }
  counted_emit<<<1, 256, 0, capture>>>(h, out, x, dim);
  cudaStreamEndCapture(capture, &graph);
  cudaGraphInstantiateWithFlags(&exec, graph, 0);
  for (int t = 0; t < steps; ++t) cudaGraphLaunch(exec, stream);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(capture);
}
