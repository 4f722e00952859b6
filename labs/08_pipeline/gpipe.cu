// Lab 08, task `gpipe`: all forwards, then all backwards, with the transfers hidden behind the kernels.
//
// Run: ./ridge check 08 --task gpipe
#include "pipeline.hpp"

// TASK(gpipe)
void gpipe(Stage& stage, cudaStream_t stream) {
  // TODO: one micro-batch at a time: the gradients are right, and all ranks but one wait. Begin with all forwards, each with a
  // slot and a box of its own, then all backwards; then give transfers streams of their own.
  const int m = stage.micro_batches();
  const std::size_t n = stage.elements();
  const Link in = stage.activations_in(), out = stage.activations_out(), gradients_in = stage.gradients_in(),
             gradients_out = stage.gradients_out();
  stage.clear_gradients();
  for (int k = 0; k < m; ++k) {
    if (!stage.first(0)) ncclRecv(stage.input(0), n, ncclFloat, in.peer, in.comm, stream);
    stage.forward(0, k, 0, 0, 1.0f / static_cast<float>(m));
    if (!stage.last(0)) {
      ncclSend(stage.output(0), n, ncclFloat, out.peer, out.comm, stream);
      ncclRecv(stage.output(0), n, ncclFloat, gradients_in.peer, gradients_in.comm, stream);
    }
    stage.backward(0, k, 0, 0);
    if (!stage.first(0)) ncclSend(stage.output(0), n, ncclFloat, gradients_out.peer, gradients_out.comm, stream);
  }
}
// END(gpipe)
