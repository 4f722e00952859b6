// There is no vendor's pipeline. `gpipe` and `one_f_one_b` are what Megatron-LM does without overlap: kernels and transfers in one stream,
// in groups where both directions meet. `interleaved` has streams for its transfers: its ring cannot be split into pairs.
#include <algorithm>
#include <deque>
#include <vector>

#include "pipeline.hpp"

void order(int p, int m, int v, int r, Step* steps) {
  // Warm up until the first gradient can be here, then one backward for each forward, then what is left.
  const int all = m * v, reach = v == 1 ? p - r - 1 : 2 * (p - r - 1) + (v - 1) * p, warm_up = std::min(reach, all);
  // The i-th forward. Micro-batches go in rounds: p of them through the first chunk, the same through the second, ...
  // Backwards go through the chunks from the last one.
  auto forward = [=](int i) { return v == 1 ? Step{true, 0, i} : Step{true, i / p % v, i / (p * v) * p + i % p}; };
  auto backward = [=](int i) {
    const Step f = forward(i);
    return Step{false, v - 1 - f.chunk, f.micro_batch};
  };
  for (int i = 0; i < warm_up; ++i) *steps++ = forward(i);
  for (int i = warm_up; i < all; ++i) {
    *steps++ = forward(i);
    *steps++ = backward(i - warm_up);
  }
  for (int i = all - warm_up; i < all; ++i) *steps++ = backward(i);
}

namespace {

// Transfers of one stage, all in `stream`. Both directions between two neighbours have one communicator, so that they can be a group.
struct Messages {
  const Stage& stage;
  cudaStream_t stream;
  void receive_input(int box) const {
    const Link link = stage.activations_in();
    if (!stage.first(0)) ncclRecv(stage.input(box), stage.elements(), ncclFloat, link.peer, link.comm, stream);
  }
  void send_output(int box) const {
    const Link link = stage.activations_out();
    if (!stage.last(0)) ncclSend(stage.output(box), stage.elements(), ncclFloat, link.peer, link.comm, stream);
  }
  void receive_gradient(int box) const {
    const Link link = stage.activations_out();
    if (!stage.last(0)) ncclRecv(stage.output(box), stage.elements(), ncclFloat, link.peer, link.comm, stream);
  }
  void send_gradient(int box) const {
    const Link link = stage.activations_in();
    if (!stage.first(0)) ncclSend(stage.output(box), stage.elements(), ncclFloat, link.peer, link.comm, stream);
  }
};

}  // namespace

void gpipe(Stage& stage, cudaStream_t stream) {
  const int m = stage.micro_batches();
  const Messages messages{stage, stream};
  stage.clear_gradients();
  for (int k = 0; k < m; ++k) {
    messages.receive_input(k);
    stage.forward(0, k, k, k, 1.0f / static_cast<float>(m));
    messages.send_output(k);
  }
  for (int k = 0; k < m; ++k) {
    messages.receive_gradient(k);
    stage.backward(0, k, k, k);
    messages.send_gradient(k);
  }
}

void one_f_one_b(Stage& stage, cudaStream_t stream) {
  const int m = stage.micro_batches(), warm_up = std::min(stage.ranks() - stage.rank() - 1, m);
  const Messages messages{stage, stream};
  auto box = [&](int k) { return k % stage.boxes(); };
  auto forward = [&](int k) { stage.forward(0, k, k % stage.slots(), box(k), 1.0f / static_cast<float>(m)); };
  auto backward = [&](int k) { stage.backward(0, k, k % stage.slots(), box(k)); };
  stage.clear_gradients();
  for (int k = 0; k < warm_up; ++k) {
    messages.receive_input(box(k));
    forward(k);
    messages.send_output(box(k));
  }
  if (warm_up < m) messages.receive_input(box(warm_up));
  for (int k = warm_up; k < m; ++k) {
    forward(k);
    ncclGroupStart();
    messages.send_output(box(k));
    messages.receive_gradient(box(k - warm_up));
    ncclGroupEnd();
    backward(k - warm_up);
    ncclGroupStart();
    messages.send_gradient(box(k - warm_up));
    if (k + 1 < m) messages.receive_input(box(k + 1));
    ncclGroupEnd();
  }
  for (int k = m - warm_up; k < m; ++k) {
    messages.receive_gradient(box(k));
    backward(k);
    messages.send_gradient(box(k));
  }
}

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
