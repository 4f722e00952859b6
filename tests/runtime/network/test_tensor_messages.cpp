// What tensor-parallel groups exchange, and what hides it.
#include "clusters.hpp"
#include "network/kernel_costs.hpp"
#include "network/layer_times.hpp"
#include "network/links/group_times.hpp"
#include "support/catch.hpp"

using namespace ridge::network;

namespace {

// Bytes that a rank sends for a layer: forward, backward and what is recomputed.
double sent_in(const Transformer& m, const Layout& l, const Gpu& g, const RingCost& ring) {
  const LayerTimes t = layer_times(m, l, g, ring);
  return t.forward.sent + t.backward.sent + t.recomputed.sent;
}

}  // namespace

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
