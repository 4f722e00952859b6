// Lab 08, task `gpipe`: all forwards, then all backwards, with the transfers hidden behind the kernels.
//
// Run: ./ridge check 08 --task gpipe
#include "pipeline.hpp"

// TASK(gpipe)
#include <vector>

namespace {

// A stream for each kind of transfer: one that waits for a neighbour holds up neither another one nor a kernel.
struct Streams {
  cudaStream_t in, out, gradients_in, gradients_out;
  cudaEvent_t event;
  Streams() {
    for (cudaStream_t* s : {&in, &out, &gradients_in, &gradients_out})
      cudaStreamCreateWithFlags(s, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  }
  // What comes in `later` waits for what is in `earlier` now. An event may be recorded again: a wait means its last record.
  void after(cudaStream_t later, cudaStream_t earlier) const {
    cudaEventRecord(event, earlier);
    cudaStreamWaitEvent(later, event);
  }
};

}  // namespace

void gpipe(Stage& stage, cudaStream_t stream) {
  static const Streams s;
  const int m = stage.micro_batches();
  const std::size_t n = stage.elements();
  const Link in = stage.activations_in(), out = stage.activations_out(), gradients_in = stage.gradients_in(),
             gradients_out = stage.gradients_out();
  for (cudaStream_t other : {s.in, s.out, s.gradients_in, s.gradients_out}) s.after(other, stream);
  stage.clear_gradients();
  // Each micro-batch has a slot and a box of its own. The host is far ahead: inputs arrive while earlier ones are worked on.
  for (int k = 0; k < m; ++k) {
    if (!stage.first(0)) {
      ncclRecv(stage.input(k), n, ncclFloat, in.peer, in.comm, s.in);
      s.after(stream, s.in);
    }
    stage.forward(0, k, k, k, 1.0f / static_cast<float>(m));
    if (!stage.last(0)) {
      s.after(s.out, stream);
      ncclSend(stage.output(k), n, ncclFloat, out.peer, out.comm, s.out);
    }
  }
  s.after(s.gradients_in, s.out);  // gradients take the outputs' places
  for (int k = 0; k < m; ++k) {
    if (!stage.last(0)) {
      ncclRecv(stage.output(k), n, ncclFloat, gradients_in.peer, gradients_in.comm, s.gradients_in);
      s.after(stream, s.gradients_in);
    }
    stage.backward(0, k, k, k);
    if (!stage.first(0)) {
      s.after(s.gradients_out, stream);
      ncclSend(stage.output(k), n, ncclFloat, gradients_out.peer, gradients_out.comm, s.gradients_out);
    }
  }
  for (cudaStream_t other : {s.in, s.out, s.gradients_in, s.gradients_out}) s.after(stream, other);
}
// END(gpipe)
