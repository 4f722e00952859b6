// One step of lab 05's `decode` for replay.py: as a graph of the solution, and as plain launches for others to capture.
#include <cuda_runtime.h>

#include <cstddef>

#include "streams.hpp"

namespace plain {
#include "../../solutions/05_streams_graphs/steps/decode_3_graph.cu"
}
namespace solution {
#include "../../solutions/05_streams_graphs/decode.cu"
}

extern "C" {

// weights: layers x dim x dim; x, h, v, out: dim floats. The 2 layers + 1 kernels of a step.
int plain_step(const float* weights, float* x, float* h, float* v, float* out, int layers, int dim,
               cudaStream_t stream) {
  const auto rows = static_cast<unsigned>((dim + plain::kRowsOfBlock - 1) / plain::kRowsOfBlock);
  const auto blocks = static_cast<unsigned>((dim + 255) / 256);
  const auto matrix = static_cast<std::size_t>(dim) * static_cast<std::size_t>(dim);
  for (int l = 0; l < layers; ++l) {
    plain::matvec_kernel<<<rows, 256, 0, stream>>>(weights + l * matrix, l == 0 ? x : h, v, dim);
    plain::act_kernel<<<blocks, 256, 0, stream>>>(v, h, dim);
  }
  plain::emit_kernel<<<blocks, 256, 0, stream>>>(h, out, x, dim, 0);
  return cudaGetLastError();
}

// All of the task: capture, `steps` launches with new parameters. start: dim floats, out: steps x dim, workspace: 3 dim.
int solution_decode(const float* weights, const float* start, float* out, int layers, int dim, int steps,
                    void* workspace, cudaStream_t stream) {
  solution::decode(weights, start, out, layers, dim, steps, workspace, 3 * sizeof(float) * dim, stream);
  return cudaGetLastError();
}

// The step before the solution: a graph of plain launches.
int graph_decode(const float* weights, const float* start, float* out, int layers, int dim, int steps, void* workspace,
                 cudaStream_t stream) {
  plain::decode(weights, start, out, layers, dim, steps, workspace, 3 * sizeof(float) * dim, stream);
  return cudaGetLastError();
}
}
