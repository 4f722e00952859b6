// Lab 08, task `one_f_one_b`: a backward as soon as there can be one, so that few micro-batches are in flight.
//
// Run: ./ridge check 08 --task one_f_one_b
#include "pipeline.hpp"

// TASK(one_f_one_b)
void one_f_one_b(Stage& stage, cudaStream_t) {
  // TODO: make the steps of order(p, m, 1, r). There are stage.slots() slots, fewer than m: micro-batch k may take the slot of one
  // whose backward has ended. This leaves all gradients 0.
  stage.clear_gradients();
}
// END(one_f_one_b)
