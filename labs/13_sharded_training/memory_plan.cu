// Lab 13, task `memory_plan`: the bytes of training, for each stage of ZeRO, before anything is allocated.
//
// Run: ./ridge check 13 --task memory_plan
#include "sharded.hpp"

namespace {

// Bytes of an array in memory of its own.
std::int64_t rounded(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

// TASK(memory_plan)
Memory memory_plan(const Setup& setup, int batch) {
  // TODO: this is stage 0 in fp32, without activations.
  const auto n = static_cast<std::int64_t>(nn::parameter_layout(setup.model).elements);
  (void)batch;
  return {rounded(4 * n), rounded(4 * n), 2 * rounded(4 * n), 0};
}

int largest_batch(const Setup& setup, std::int64_t bytes) {
  // TODO: how many sequences fit?
  return memory_plan(setup, 1).total() <= bytes ? 1 : 0;
}
// END(memory_plan)
