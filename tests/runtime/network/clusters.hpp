// Models and clusters that the simulator's tests share.
#pragma once
#include <string>

#include "network/description.hpp"
#include "network/training_step.hpp"
#include "support/run.hpp"

namespace ridge::network {

inline std::string folder() { return ridge::test::repository() + "/runtime/network"; }

inline Cluster dgx_h100() { return {load_gpu(folder(), "h100"), load_fabric(folder(), "dgx_h100")}; }

// Links that cost nothing, so that only computation is left.
inline Cluster free_links() {
  Cluster c = dgx_h100();
  c.fabric.node_bandwidth = c.fabric.adapter_bandwidth = 1e18;
  c.fabric.node_latency = c.fabric.latency = 0;
  return c;
}

// Every layer alike, and next to nothing at the ends.
inline Transformer even(int layers) {
  Transformer m = load_transformer(folder(), "gpt3_175b");
  m.layers = layers;
  m.vocabulary = 8;
  m.positions = 0;
  return m;
}

// A GPU with round figures.
inline Gpu small_gpu() {
  Gpu g;
  g.sms = 10;
  g.bf16_flops = 1e12;
  g.fp8_flops = 2e12;
  g.product_efficiency = 0.8;
  g.fp8_efficiency = 0.9;
  g.product_depth = 100;
  g.flash = {{1e11, 1000, 3}, {5e10, 3000, 0}};
  g.cudnn = {{2e11, 1000, 3}, {8e10, 2000, 0}};
  g.memory_bandwidth = 1e10;
  g.memory_bytes = 1e9;
  g.kernel_seconds = 0;
  return g;
}

}  // namespace ridge::network
