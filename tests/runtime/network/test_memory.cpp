// Memory of a step, by formulas.
#include "clusters.hpp"
#include "network/memory.hpp"
#include "support/catch.hpp"

using namespace ridge::network;

TEST_CASE("a layer that is not compiled keeps more, and so do keys that are repeated") {
  const Transformer m = load_transformer(folder(), "llama3_8b"), gpt = load_transformer(folder(), "gpt_1.3b");
  Layout l;
  l.tensor = 2, l.micro_batch = 3;
  const double rows = 3.0 * m.sequence, fused = kept_bytes(m, l), same = kept_bytes(gpt, l);
  l.repeats_keys = true;
  CHECK(kept_bytes(m, l) - fused == Approx(2 * rows * 2 * (32 - 8) / 2 * 128));
  CHECK(kept_bytes(gpt, l) == same);
  l.repeats_keys = false, l.fused = false;
  CHECK(kept_bytes(gpt, l) == same);  // layer norm and GELU keep what their inputs and outputs are
  // Two norms, each with two floats and another bf16 of its input in place of the input; SiLU's result.
  CHECK(kept_bytes(m, l) - fused == Approx(2 * rows * (2 * (4 + 1 - 1) * m.hidden / 2 + m.feed_forward / 2)));
  l.fused_norms = true;
  CHECK(kept_bytes(m, l) - fused == Approx(2 * rows * m.feed_forward / 2));
}

TEST_CASE("memory falls with each ZeRO stage by what the stage shares out") {
  const Transformer m = even(8);
  Layout l;
  l.data = 16, l.global_batch = 16;
  const double n = m.parameters();
  l.shard = 0;
  CHECK(memory_of(m, l).optimizer == Approx(12 * n));
  l.shard = 1;
  CHECK(memory_of(m, l).optimizer == Approx(12 * n / 16));
  CHECK(memory_of(m, l).gradients == Approx(4 * n));
  l.shard = 2;
  CHECK(memory_of(m, l).gradients == Approx(4 * n / 16 + 4 * m.layer_parameters()));
  CHECK(memory_of(m, l).weights == Approx(2 * n));
  l.shard = 3;
  CHECK(memory_of(m, l).weights == Approx(2 * 2 * m.layer_parameters()));
  const Transformer wide = load_transformer(folder(), "llama3_8b");  // its head is larger than a layer
  CHECK(memory_of(wide, l).weights == Approx(2 * 2 * wide.head_parameters()));
  Layout alone;
  alone.shard = 3;
  CHECK(memory_of(m, alone).weights == Approx(2 * n));
  CHECK(memory_of(m, alone).gradients == Approx(4 * n));
  const double all = memory_of(m, l).activations;
  l.recompute = Recompute::full;
  CHECK(memory_of(m, l).activations < all / 3);
  // Korthikanti et al. 2022, without FlashAttention: s b h (34 + 5 a s / h), of which masks of dropout are 2.
  l = {};
  l.attention = Attention::unfused;
  const double s = m.sequence, h = m.hidden, a = m.heads;
  CHECK(kept_bytes(m, l) == Approx(s * h * (32 + 5 * a * s / h)));
}
