// Times of layers, by hand.
#include "clusters.hpp"
#include "network/layer_times.hpp"
#include "network/links/group_times.hpp"
#include "network/memory.hpp"
#include "support/catch.hpp"

using namespace ridge::network;

TEST_CASE("attention is slower on short sequences, and five products backward stand against two forward") {
  const Gpu g = small_gpu();
  CHECK(attention_rate(g, Attention::flash, 1000, 3840, false) ==
        Approx(5e10 * 3000 / 3003));  // 3000 waves of 128 queries on 10 SMs
  CHECK(attention_rate(g, Attention::flash, 9000, 1, true) == Approx(5e10 * 0.75));
  CHECK(attention_rate(g, Attention::flash, 1280, 3, false) ==
        Approx(1e11 * 1280 / 2280 / 2));  // as many waves as reach half
  CHECK(attention_rate(g, Attention::cudnn, 1000, 3840, false) == Approx(1e11 * 3000 / 3003));
  CHECK(attention_rate(g, Attention::cudnn, 8000, 1, true) == Approx(8e10 * 0.8));
  const Transformer m = load_transformer(folder(), "llama2_7b");
  Layout l;
  l.micro_batch = 2;
  const LayerTimes t = layer_times(m, l, g, {});
  const double square = 2.0 * m.sequence * m.sequence * m.heads * m.head_width;
  CHECK(t.forward.attention ==
        Approx(2 * square / attention_rate(g, Attention::flash, m.sequence, 2 * m.heads, false)));
  CHECK(t.backward.attention ==
        Approx(5 * square / attention_rate(g, Attention::flash, m.sequence, 2 * m.heads, true)));
  CHECK(t.backward.products == Approx(2 * t.forward.products).epsilon(0.05));
  l.attention = Attention::cudnn;
  CHECK(layer_times(m, l, g, {}).backward.attention ==
        Approx(5 * square / attention_rate(g, Attention::cudnn, m.sequence, 2 * m.heads, true)));
}

TEST_CASE("what is recomputed") {
  const Transformer m = load_transformer(folder(), "llama3_8b");
  const Gpu g = load_gpu(folder(), "h100");
  Layout l;
  CHECK(layer_times(m, l, g, {}).recomputed.seconds() == 0);
  l.recompute = Recompute::full;
  const LayerTimes full = layer_times(m, l, g, {});
  CHECK(full.recomputed.seconds() == Approx(full.forward.seconds()));
  l.recompute = Recompute::selective;
  const LayerTimes some = layer_times(m, l, g, {});
  CHECK(some.recomputed.attention == 0);
  // torchtitan keeps every other product of q, k, v, o, w1, w3, w2: k, o and w3 run again.
  const double rows = l.micro_batch * m.sequence, h = m.hidden;
  auto product = [&](double n, double k) { return product_seconds(g, rows, n, k, Precision::bf16); };
  CHECK(some.recomputed.products == Approx(product(8 * 128, h) + product(h, h) + product(m.feed_forward, h)));
  CHECK(some.recomputed.elementwise == Approx(some.forward.elementwise));
  // Its input, q, v, the attended values and w1's output are kept; w2's too, unless a compiler drops it.
  // Fused attention keeps a float of each head's query.
  CHECK(kept_bytes(m, l) == Approx(2 * rows * (3 * h + 8 * 128 + m.feed_forward) + 4 * rows * m.heads));
  l.fused = false;
  CHECK(kept_bytes(m, l) == Approx(2 * rows * (4 * h + 8 * 128 + m.feed_forward) + 4 * rows * m.heads));
  l.fused = true;
  l.recompute = Recompute::full;
  l.stops_early = true;
  CHECK(layer_times(m, l, g, {}).recomputed.products == Approx(full.forward.products - product(h, m.feed_forward)));
  l.stops_early = false;
  l.recompute = Recompute::selective;
  l.attention = Attention::unfused;
  const LayerTimes scores = layer_times(m, l, g, {});
  CHECK(scores.recomputed.attention == Approx(scores.forward.attention));
  CHECK(scores.recomputed.products == 0);
  const double all = working_bytes(m, l);
  CHECK(kept_bytes(m, l) == Approx(all - 5.0 * m.heads * m.sequence * m.sequence));
}

TEST_CASE("separate products of one input: smaller products, and a sum of their inputs' gradients before the message") {
  const Transformer m = load_transformer(folder(), "llama3_8b");
  const Gpu g = load_gpu(folder(), "h100");
  RingCost ring;
  ring.ranks = 8;
  ring.seconds_per_byte = 1e-12;
  Layout l;
  l.tensor = 8;
  l.keeps_gathered = true;
  const double rows = m.sequence, h = m.hidden, f = m.feed_forward / 8.0, q = h / 8, kv = 128;
  auto product = [&](double r, double n, double k) { return product_seconds(g, r, n, k, Precision::bf16); };
  const Work merged = layer_times(m, l, g, ring).backward;
  l.separate_inputs = true;
  const LayerTimes t = layer_times(m, l, g, ring);
  CHECK(t.forward.products == Approx(product(rows, q, h) + 2 * product(rows, kv, h) + product(rows, h, q) +
                                     2 * product(rows, f, h) + product(rows, h, f)));
  // Three gradients become one, and two: 4 + 3 times the rows move, less what norms' own rows have of it.
  CHECK((t.backward.elementwise - merged.elementwise - 2 * g.kernel_seconds) * g.memory_bandwidth ==
        Approx(2 * rows * h * (4 + 3) * 7 / 8));
  // Overlap hides the gathers of the outputs' gradients alone: sums stand before the other messages.
  l.overlap_tensor = true;
  const double one = 2 * rows * h * 7 / 8 * 1e-12;
  CHECK(layer_times(m, l, g, ring).backward.exposed == Approx(2 * one));
  l.separate_inputs = false;
  CHECK(layer_times(m, l, g, ring).backward.exposed < one);
}

TEST_CASE("several micro-batches add up gradients as floats") {
  const Transformer m = load_transformer(folder(), "llama3_8b");
  const Gpu g = load_gpu(folder(), "h100");
  Layout l;
  l.tensor = 2;
  const Work one = layer_times(m, l, g, {}).backward;
  l.global_batch = 2;
  const double weights = m.layer_parameters() - 2 * m.hidden;  // without the norms'
  CHECK(layer_times(m, l, g, {}).backward.elementwise - one.elementwise ==
        Approx(6 * weights / 2 / g.memory_bandwidth));
}

TEST_CASE("fp8: operands are cast before their products, weights too unless they are gathered as fp8") {
  const Transformer m = load_transformer(folder(), "llama3_8b");
  Gpu g = load_gpu(folder(), "h100");
  Layout l;
  const LayerTimes before = layer_times(m, l, g, {});
  l.precision = Precision::fp8;
  const LayerTimes fp8 = layer_times(m, l, g, {});
  const double rows = m.sequence, h = m.hidden, f = m.feed_forward, kv = 8 * 128;
  const double weights = h * (h + 2 * kv) + h * h + 3 * h * f;
  const double inputs = 2 * h + h + f, outputs = h + 2 * kv + 2 * f + 2 * h;
  auto moved = [&](const Work& after, const Work& was) {
    return (after.elementwise - was.elementwise - g.kernel_seconds) * g.memory_bandwidth;
  };
  CHECK(moved(fp8.forward, before.forward) == Approx(5.8 * (rows * inputs + weights)));
  CHECK(moved(fp8.backward, before.backward) ==
        Approx(5.8 * rows * outputs + 3 * (rows * (inputs + outputs) + weights)));
  l.fp8_gather = true;
  CHECK(moved(layer_times(m, l, g, {}).forward, before.forward) == Approx(5.8 * rows * inputs));
}

TEST_CASE("software that fuses less moves more bytes, and keeps logits as floats") {
  const Transformer m = load_transformer(folder(), "llama3_8b");
  const Gpu g = load_gpu(folder(), "h100");
  Layout l;
  const LayerTimes fused = layer_times(m, l, g, {});
  const double logits = double(m.sequence) * m.vocabulary;
  CHECK(head_bytes(m, l) == Approx(2 * logits));
  l.fused_loss = false;
  CHECK(head_bytes(m, l) == Approx(12 * logits));
  CHECK(layer_times(m, l, g, {}).head_forward.elementwise > 5 * fused.head_forward.elementwise);
  l.fused = false;
  const double unfused = layer_times(m, l, g, {}).forward.elementwise;
  CHECK(unfused > 3 * fused.forward.elementwise);
  l.fused_norms = true;
  CHECK(layer_times(m, l, g, {}).forward.elementwise < unfused / 1.5);
  CHECK(layer_times(m, l, g, {}).forward.elementwise > 1.5 * fused.forward.elementwise);
  const Transformer gpt = load_transformer(folder(), "gpt_1.3b");  // layer norm is one kernel anyway
  const double norms = layer_times(gpt, l, g, {}).forward.elementwise;
  l.fused_norms = false;
  CHECK(layer_times(gpt, l, g, {}).forward.elementwise == norms);
}
