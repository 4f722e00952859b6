// Times of kernels and layers, by hand.
#include <algorithm>
#include <random>

#include "network/description.hpp"
#include "network/kernel_costs.hpp"
#include "network/layer_times.hpp"
#include "network/memory.hpp"
#include "network/stage.hpp"
#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge::network;

namespace {

std::string folder() { return ridge::test::repository() + "/runtime/network"; }

Gpu small_gpu() {
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

// Bytes that a rank sends for a layer: forward, backward and what is recomputed.
double sent_in(const Transformer& m, const Layout& l, const Gpu& g, const RingCost& ring) {
  const LayerTimes t = layer_times(m, l, g, ring);
  return t.forward.sent + t.backward.sent + t.recomputed.sent;
}

}  // namespace

TEST_CASE("a product takes whole tiles, in waves over the SMs, and no less than its operations at the limit of power") {
  Gpu g = small_gpu();
  g.memory_bandwidth = 1e15;
  const double rate = 1e12 * 0.8 / 10;  // of an SM
  // 1280 x 2560 outputs are 100 tiles of 128 x 256, 10 waves.
  CHECK(product_seconds(g, 1280, 2560, 900, Precision::bf16) == Approx(10 * 2 * 128 * 256 * 1000.0 / rate));
  // One row more is another row of tiles, in a wave of its own. Smaller tiles would do worse.
  CHECK(product_seconds(g, 1281, 2560, 900, Precision::bf16) == Approx(11 * 2 * 128 * 256 * 1000.0 / rate));
  // fp8: twice the rate, of which 0.9; the same seconds for start and end, so twice the depth.
  CHECK(product_seconds(g, 1280, 2560, 900, Precision::fp8) == Approx(10 * 2 * 128 * 256 * 1100.0 / (2 * rate * 0.9)));
  // A few rows: small tiles keep more SMs busy.
  CHECK(product_seconds(g, 64, 640, 900, Precision::bf16) == Approx(2 * 64 * 64 * 1000.0 / (rate * 0.55)));
  // Where power sets the clock, a last wave that is not full costs what it computes; whole waves would be faster alone.
  g.clock_boost = 1.25;
  CHECK(product_seconds(g, 1281, 2560, 900, Precision::bf16) == Approx(1281 * 2560 * 2 * 1000.0 / (10 * rate)));
  CHECK(product_seconds(g, 64, 640, 900, Precision::bf16) == Approx(2 * 64 * 64 * 1000.0 / (rate * 1.25 * 0.55)));
  g.memory_bandwidth = 1e9;
  CHECK(product_seconds(g, 16, 10000, 10000, Precision::bf16) == Approx(2 * (16e4 + 1e8 + 16e4) / 1e9));
  CHECK(product_seconds(g, 0, 5, 5, Precision::bf16) == 0);
  CHECK(memory_seconds(g, 1e9) == Approx(1));
}

TEST_CASE("the slowest of many GPUs") {
  Gpu g = small_gpu();
  CHECK(slowest_of(g, 512) == 0);
  g.speed_spread = 0.02;
  CHECK(slowest_of(g, 1) == Approx(0).margin(1e-9));
  std::mt19937_64 random(5);
  std::normal_distribution<double> draw(0, 0.02);
  for (int n : {2, 8, 96, 1000}) {
    double sum = 0;
    for (int i = 0; i < 3000; ++i) {
      double most = -1;
      for (int j = 0; j < n; ++j) most = std::max(most, draw(random));
      sum += most;
    }
    CHECK(slowest_of(g, n) == Approx(sum / 3000).epsilon(0.04));
  }
  const double fixed = slowest_of(g, 1000);
  g.speed_jitter = 0.03;
  CHECK(slowest_of(g, 1000) == Approx(fixed));  // alone in its tensor group
  CHECK(slowest_of(g, 1000, 8) == Approx(fixed + 1.5 * slowest_of(g, 8)));
}

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

TEST_CASE("collectives of the tensor group: ten a layer with sequence parallelism, four all-reduces without") {
  const Transformer m = load_transformer(folder(), "llama3_8b");
  const Gpu g = load_gpu(folder(), "h100");
  RingCost ring;
  ring.ranks = 8;
  ring.seconds_per_byte = 1e-12;
  Layout l;
  l.tensor = 8;
  const double n = 2.0 * m.sequence * m.hidden, one = n * 7 / 8 * 1e-12;
  const LayerTimes t = layer_times(m, l, g, ring);
  CHECK(t.forward.exposed == Approx(4 * one));
  CHECK(t.backward.exposed == Approx(6 * one));
  for (const Work* end : {&t.embedding_forward, &t.embedding_backward, &t.head_forward, &t.head_backward})
    CHECK(end->exposed == Approx(one));
  l.overlap_tensor = true;
  CHECK(layer_times(m, l, g, ring).forward.messages == Approx(4 * one));  // hidden or not
  CHECK(layer_times(m, l, g, ring).backward.messages == Approx(6 * one));
  CHECK(sent_in(m, l, g, ring) == Approx(10 * n * 7 / 8));
  l.overlap_tensor = false;
  CHECK(sent_in(m, l, g, ring) == Approx(10 * n * 7 / 8));
  // Kept inputs are not gathered again. Full recomputation repeats what forward exchanges, or all but the last sum.
  l.keeps_gathered = true;
  CHECK(layer_times(m, l, g, ring).backward.exposed == Approx(4 * one));
  CHECK(sent_in(m, l, g, ring) == Approx(8 * n * 7 / 8));
  l.recompute = Recompute::selective;
  CHECK(layer_times(m, l, g, ring).recomputed.exposed == Approx(2 * one));
  CHECK(sent_in(m, l, g, ring) == Approx(10 * n * 7 / 8));
  l.recompute = Recompute::full;
  l.stops_early = true;
  CHECK(layer_times(m, l, g, ring).recomputed.exposed == Approx(3 * one));
  CHECK(sent_in(m, l, g, ring) == Approx(11 * n * 7 / 8));
  l = {};
  l.tensor = 8;
  // Rows that are laid out anew are read and written once for each message.
  const LayerTimes before = layer_times(m, l, g, ring);
  l.copies_rows = true;
  const LayerTimes copied = layer_times(m, l, g, ring);
  const double copy = memory_seconds(g, 2 * n);
  CHECK(copied.forward.elementwise - before.forward.elementwise == Approx(4 * copy));
  CHECK(copied.backward.elementwise - before.backward.elementwise == Approx(6 * copy));
  CHECK(copied.head_forward.elementwise - before.head_forward.elementwise == Approx(copy));
  l.copies_rows = false;
  // fp8 rows are gathered as fp8; sums travel as bf16.
  l.precision = Precision::fp8;
  CHECK(layer_times(m, l, g, ring).forward.exposed == Approx(3 * one));
  CHECK(sent_in(m, l, g, ring) == Approx((6 / 2 + 4) * n * 7 / 8));
  l.precision = Precision::bf16;
  l.sequence_parallel = false;
  CHECK(layer_times(m, l, g, ring).forward.exposed == Approx(2 * 2 * one));
  CHECK(sent_in(m, l, g, ring) == Approx(8 * n * 7 / 8));
  const LayerTimes reduced = layer_times(m, l, g, ring);
  CHECK(reduced.embedding_forward.sent + reduced.embedding_backward.sent == Approx(2 * n * 7 / 8));
  CHECK(reduced.head_forward.sent + reduced.head_backward.sent == Approx(2 * n * 7 / 8));
  l.tensor = 1;
  CHECK(layer_times(m, l, g, {}).forward.exposed == 0);
  CHECK(sent_in(m, l, g, ring) == 0);
}

TEST_CASE("overlapped messages travel beside chunks of products, which are slower, and each hides behind its own") {
  const Transformer m = load_transformer(folder(), "llama3_8b");
  Gpu g = load_gpu(folder(), "h100");
  RingCost ring;
  ring.ranks = 8;
  ring.seconds_per_byte = 1e-15;  // next to nothing
  Layout l;
  l.tensor = 8;
  l.overlap_tensor = true;
  const double rows = m.sequence, h = m.hidden, f = m.feed_forward;
  auto product = [&](double r, double n, double k) { return product_seconds(g, r, n, k, Precision::bf16); };
  auto chunked = [&](double n, double k) { return 8 * product(rows / 8, n, k); };
  const Work fast = layer_times(m, l, g, ring).forward;
  CHECK(fast.exposed == 0);
  CHECK(fast.products ==
        Approx(chunked(48 * 128 / 8, h) + chunked(h, h / 8) + chunked(2 * f / 8, h) + chunked(h, f / 8)));
  // Messages longer than all products: each product hides its own length less a chunk, and no more.
  ring.seconds_per_byte = 1e-9;
  const double one = 2 * rows * h * 7 / 8 * 1e-9;
  const Work slow = layer_times(m, l, g, ring).forward;
  CHECK(slow.exposed == Approx(4 * one - slow.products * 7 / 8));
  // Whole products beside messages that they do not need: x gathered again, and the sum of its gradient.
  const Work back = layer_times(m, l, g, ring).backward;
  const double inputs = product(rows, h, 48 * 128 / 8) + product(rows, h, 2 * f / 8);
  const double weights = product(h, 48 * 128 / 8, rows) + product(h, 2 * f / 8, rows);
  const double others = chunked(h / 8, h) + chunked(f / 8, h);
  CHECK(back.exposed == Approx(6 * one - (1 - cost::kShareOfCollectives) * (inputs + weights) - others * 7 / 8));
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
