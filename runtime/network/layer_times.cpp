#include "layer_times.hpp"

#include <algorithm>

#include "stage.hpp"

namespace ridge::network {

namespace {

constexpr double kElement = 2;    // bytes of an activation: bf16
constexpr double kUnfused = 2.5;  // bytes that element-wise kernels move, over those of fused ones; assumed
// With sequence parallelism an all-gather and a reduce-scatter stand for each all-reduce; backward also gathers the
// inputs of two products again (Korthikanti et al. 2022).
constexpr int kForwardCollectives = 4, kBackwardCollectives = 6;
constexpr double kTensorChunks = 8;  // of an overlapped collective; the first is exposed

class Layer {
 public:
  Layer(const Transformer& model, const Layout& layout, const Gpu& gpu, const RingCost& tensor)
      : m_(model), l_(layout), gpu_(gpu), tensor_(tensor), rows_(double(layout.micro_batch) * model.sequence) {}

  LayerTimes times() const {
    LayerTimes t;
    t.forward = forward();
    t.backward = backward();
    if (l_.recompute == Recompute::full) t.recomputed = t.forward;
    if (l_.recompute == Recompute::selective && l_.fused_attention) {
      t.recomputed = t.forward;  // every other product is kept, as are attention's and the collectives' outputs
      t.recomputed.products /= 2;
      t.recomputed.attention = t.recomputed.exposed = 0;
    } else if (l_.recompute == Recompute::selective) {
      t.recomputed.attention = t.forward.attention;
    }
    const double hidden = rows_ * m_.hidden / shared();
    t.embedding_forward.elementwise = memory_seconds(gpu_, 2 * kElement * hidden);
    t.embedding_backward.elementwise = memory_seconds(gpu_, (kElement + 8) * hidden);
    const double columns = double(m_.vocabulary) / l_.tensor;
    t.head_forward.products = product_seconds(gpu_, rows_, columns, m_.hidden, Precision::bf16);
    t.head_backward.products = product_seconds(gpu_, rows_, m_.hidden, columns, Precision::bf16) +
                               product_seconds(gpu_, m_.hidden, columns, rows_, Precision::bf16);
    // A fused loss reads bf16 logits twice and writes their gradient over them. Else they become floats, whose maximum,
    // exponential and sum are kernels of their own, and so are the gradient and the way back to bf16.
    const double logits = rows_ * columns;
    t.head_forward.elementwise = memory_seconds(gpu_, (l_.fused_loss ? 4 : 26) * logits);
    t.head_backward.elementwise = memory_seconds(gpu_, (l_.fused_loss ? 4 : 16) * logits);
    return t;
  }

 private:
  double shared() const { return l_.sequence_parallel ? l_.tensor : 1; }
  double width(double columns) const { return columns / l_.tensor; }
  double queries() const { return width(double(m_.heads) * m_.head_width); }
  double projected() const { return width((m_.heads + 2.0 * m_.kv_heads) * m_.head_width); }
  double middle() const { return width(m_.feed_forward); }
  double bytes(double factor) const { return (l_.fused ? 1 : kUnfused) * factor * kElement; }

  double product(double n, double k) const { return product_seconds(gpu_, rows_, n, k, l_.precision); }

  // `count` collectives of the hidden rows over the tensor group, beside the products that they could hide under.
  double communicated(double products, int count) const {
    if (l_.tensor == 1) return 0;
    const double n = kElement * rows_ * m_.hidden;
    const double one = l_.sequence_parallel ? tensor_.reduce_scatter(n) : tensor_.all_reduce(n);
    if (!l_.overlap_tensor) return count * one;
    const double hidden = count * one * (1 - 1 / kTensorChunks);
    return count * one / kTensorChunks + std::max(0.0, hidden - products) +
           kShareOfCollectives * std::min(hidden, products);
  }

  // The products of scores and values. `passes`: 2 forward, 5 backward, whose first repeats the scores' product.
  double attention(bool backward) const {
    const double heads = double(m_.heads) / l_.tensor * l_.micro_batch, square = double(m_.sequence) * m_.sequence;
    const double d = m_.head_width;
    if (l_.fused_attention) {
      const double flops = (backward ? 5 : 2) * heads * square * d;  // 2 x 2 operations, half of the square
      return gpu_.kernel_seconds + flops / attention_rate(gpu_, m_.sequence, backward);
    }
    const double one = product_seconds(gpu_, m_.sequence, m_.sequence, d, Precision::bf16) - gpu_.kernel_seconds;
    const double other = product_seconds(gpu_, m_.sequence, d, m_.sequence, Precision::bf16) - gpu_.kernel_seconds;
    // Softmax reads and writes the scores, dropout too, with a mask of one byte.
    const double moved = (backward ? 11 : 9) * heads * square;
    return heads * (one + other) * (backward ? 2 : 1) + memory_seconds(gpu_, moved);
  }

  // Bytes over those of one element: two norms, two residual sums; q and k rotated; the activation.
  Work forward() const {
    Work w;
    const double ways = m_.gated ? 2 : 1;
    w.products = product(projected(), m_.hidden) + product(m_.hidden, queries()) + product(ways * middle(), m_.hidden) +
                 product(m_.hidden, middle());
    w.attention = attention(false);
    w.elementwise = memory_seconds(gpu_, bytes(9) * rows_ * m_.hidden / shared()) +
                    memory_seconds(gpu_, bytes(2) * rows_ * projected()) +
                    memory_seconds(gpu_, bytes(ways + 1) * rows_ * middle());
    if (l_.precision == Precision::fp8) w.elementwise += casts(1);
    w.exposed = communicated(w.products, l_.sequence_parallel ? kForwardCollectives : 2);
    return w;
  }

  Work backward() const {
    Work w;
    const double ways = m_.gated ? 2 : 1;
    auto both = [&](double n, double k) {  // the inputs' gradient and the weights'
      return product(k, n) + product_seconds(gpu_, k, n, rows_, l_.precision);
    };
    w.products = both(projected(), m_.hidden) + both(m_.hidden, queries()) + both(ways * middle(), m_.hidden) +
                 both(m_.hidden, middle());
    w.attention = attention(true);
    w.elementwise = memory_seconds(gpu_, bytes(11) * rows_ * m_.hidden / shared()) +
                    memory_seconds(gpu_, bytes(2) * rows_ * projected()) +
                    memory_seconds(gpu_, bytes(2 * ways + 1) * rows_ * middle());
    if (l_.precision == Precision::fp8) w.elementwise += casts(2);
    w.exposed = communicated(w.products, l_.sequence_parallel ? kBackwardCollectives : 2);
    return w;
  }

  // fp8: each operand is read as bf16 and written as fp8 with its transpose.
  double casts(double times) const {
    return memory_seconds(gpu_, 4 * times * rows_ * (2.0 * m_.hidden / shared() + queries() + middle()));
  }

  const Transformer& m_;
  const Layout& l_;
  const Gpu& gpu_;
  const RingCost& tensor_;
  double rows_;
};

}  // namespace

LayerTimes layer_times(const Transformer& model, const Layout& layout, const Gpu& gpu, const RingCost& tensor) {
  return Layer(model, layout, gpu, tensor).times();
}

double working_bytes(const Transformer& m, const Layout& l) {
  const double rows = double(l.micro_batch) * m.sequence, t = l.tensor;
  const double shared = l.sequence_parallel ? t : 1;
  const double d = m.head_width;
  // Inputs of the two norms and of what follows them; q, k, v and the attended values; the MLP's middle.
  double bytes = 2 * rows *
                 (4.0 * m.hidden / shared + (2.0 * m.heads + 2.0 * m.kv_heads) * d / t +
                  (m.gated ? 3.0 : 2.0) * m.feed_forward / t);
  if (!l.fused_attention) bytes += 5.0 * m.heads / t * rows * m.sequence;  // scores, their softmax, a mask
  return bytes;
}

double kept_bytes(const Transformer& m, const Layout& l) {
  const double rows = double(l.micro_batch) * m.sequence;
  if (l.recompute == Recompute::full) return 2 * rows * m.hidden / (l.sequence_parallel ? l.tensor : 1);
  const double all = working_bytes(m, l);
  if (l.recompute == Recompute::none) return all;
  if (!l.fused_attention) return all - 5.0 * m.heads / l.tensor * rows * m.sequence;
  return 0.5 * all;  // every other product's output
}

double head_bytes(const Transformer& m, const Layout& l) {
  return (l.fused_loss ? 2.0 : 10.0) * l.micro_batch * m.sequence * m.vocabulary / l.tensor;
}

double tensor_bytes(const Transformer& m, const Layout& l) {
  const double n = kElement * l.micro_batch * m.sequence * m.hidden, others = (l.tensor - 1.0) / l.tensor;
  return n * others * (l.sequence_parallel ? kForwardCollectives + kBackwardCollectives : 2 * 4);
}

}  // namespace ridge::network
