// Lab 08, task `interleaved`: each rank has several chunks of the model, and the bubble is shorter.
//
// Run: ./ridge check 08 --task interleaved
#include "pipeline.hpp"

// TASK(interleaved)
#include <deque>
#include <vector>

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

void interleaved(Stage& stage, cudaStream_t stream) {
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

  const int v = stage.chunks();
  std::vector<Step> steps(2 * static_cast<std::size_t>(m) * static_cast<std::size_t>(v));
  order(stage.ranks(), m, v, stage.rank(), steps.data());
  // Chunks come back in another order than they went, so it is noted which holds which place. The box that has been free the
  // longest is taken next: its last transfer has ended.
  std::deque<int> free_slots, free_boxes;
  for (int i = 0; i < stage.slots(); ++i) free_slots.push_back(i);
  for (int i = 0; i < stage.boxes(); ++i) free_boxes.push_back(i);
  struct Held {
    int slot, box;
  };
  std::vector<Held> held(static_cast<std::size_t>(m) * static_cast<std::size_t>(v));

  stage.clear_gradients();
  for (const auto& [forward, chunk, k] : steps) {
    Held& mine = held[static_cast<std::size_t>(chunk * m + k)];
    if (forward) {
      mine = {free_slots.front(), free_boxes.front()};
      free_slots.pop_front();
      free_boxes.pop_front();
    }
    Box& box = lanes.boxes[static_cast<std::size_t>(mine.box)];
    float *input = stage.input(mine.box), *output = stage.output(mine.box);
    const bool first = stage.first(chunk), last = stage.last(chunk);
    if (forward && !first) receive(input, stage.activations_in(), box, lanes.in);
    if (!forward && !last) receive(output, stage.gradients_in(), box, lanes.gradients_in);
    cudaStreamWaitEvent(stream, box.arrived);
    cudaStreamWaitEvent(stream, box.sent);  // the last gradient has left `output`
    if (forward)
      stage.forward(chunk, k, mine.slot, mine.box, 1.0f / static_cast<float>(m));
    else
      stage.backward(chunk, k, mine.slot, mine.box);
    cudaEventRecord(box.computed, stream);
    if (forward && !last) send(output, stage.activations_out(), box, lanes.out);
    if (!forward && !first) send(output, stage.gradients_out(), box, lanes.gradients_out);
    if (forward) continue;
    free_slots.push_back(mine.slot);
    free_boxes.push_back(mine.box);
  }
  for (cudaStream_t other : {lanes.in, lanes.out, lanes.gradients_in, lanes.gradients_out}) lanes.after(stream, other);
}
// END(interleaved)
