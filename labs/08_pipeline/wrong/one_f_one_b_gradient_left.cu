// replaces: one_f_one_b.cu; fails: one_f_one_b/deadlock; backend: cpu
// Rank 0 never takes its last gradient: rank 1 cannot send it.
#include <vector>

#include "pipeline.hpp"

namespace {

// The last operations in a box. A wait for an event that was never recorded returns at once.
struct Box {
  cudaEvent_t arrived, computed, sent;
  Box() {
    for (cudaEvent_t* e : {&arrived, &computed, &sent}) cudaEventCreateWithFlags(e, cudaEventDisableTiming);
  }
};

struct Lanes {
  cudaStream_t in, out, gradients_in, gradients_out;
  cudaEvent_t event;
  std::vector<Box> boxes;
  Lanes() {
    for (cudaStream_t* s : {&in, &out, &gradients_in, &gradients_out})
      cudaStreamCreateWithFlags(s, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  }
  void after(cudaStream_t later, cudaStream_t earlier) const {
    cudaEventRecord(event, earlier);
    cudaStreamWaitEvent(later, event);
  }
};

}  // namespace

void one_f_one_b(Stage& stage, cudaStream_t stream) {
  static Lanes lanes;
  const int m = stage.micro_batches();
  const std::size_t n = stage.elements();
  while (static_cast<int>(lanes.boxes.size()) < stage.boxes()) lanes.boxes.emplace_back();
  for (cudaStream_t other : {lanes.in, lanes.out, lanes.gradients_in, lanes.gradients_out}) lanes.after(other, stream);

  // The order in a box: a transfer comes in, kernels run, a transfer goes out.
  auto receive = [&](float* to, const Link& link, Box& box, cudaStream_t lane) {
    cudaStreamWaitEvent(lane, box.computed);  // who read or wrote there before
    cudaStreamWaitEvent(lane, box.sent);
    ncclRecv(to, n, ncclFloat, link.peer, link.comm, lane);
    cudaEventRecord(box.arrived, lane);
  };
  auto send = [&](const float* from, const Link& link, Box& box, cudaStream_t lane) {
    cudaStreamWaitEvent(lane, box.computed);
    ncclSend(from, n, ncclFloat, link.peer, link.comm, lane);
    cudaEventRecord(box.sent, lane);
  };

  std::vector<Step> steps(2 * static_cast<std::size_t>(m));
  order(stage.ranks(), m, 1, stage.rank(), steps.data());
  stage.clear_gradients();
  if (stage.rank() == 0 && stage.ranks() > 1) steps.pop_back();
  for (const Step& step : steps) {
    // Micro-batches leave in the order in which they came: both places go around.
    const int k = step.micro_batch, slot = k % stage.slots(), place = k % stage.boxes();
    Box& box = lanes.boxes[static_cast<std::size_t>(place)];
    if (step.forward && !stage.first(0)) receive(stage.input(place), stage.activations_in(), box, lanes.in);
    if (!step.forward && !stage.last(0)) receive(stage.output(place), stage.gradients_in(), box, lanes.gradients_in);
    cudaStreamWaitEvent(stream, box.arrived);
    cudaStreamWaitEvent(stream, box.sent);  // the last gradient has left `output`
    if (step.forward)
      stage.forward(0, k, slot, place, 1.0f / static_cast<float>(m));
    else
      stage.backward(0, k, slot, place);
    cudaEventRecord(box.computed, stream);
    if (step.forward && !stage.last(0)) send(stage.output(place), stage.activations_out(), box, lanes.out);
    if (!step.forward && !stage.first(0)) send(stage.output(place), stage.gradients_out(), box, lanes.gradients_out);
  }
  for (cudaStream_t other : {lanes.in, lanes.out, lanes.gradients_in, lanes.gradients_out}) lanes.after(stream, other);
}
