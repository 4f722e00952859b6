#include "layer_times.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "kernel_costs.hpp"
#include "tensor_messages.hpp"

namespace ridge::network {

namespace {

// A product of the layer, (rows, k) x (k, n) forward, or several of the same rows. Their input is gathered from the
// tensor group, or their output is summed over the group (Korthikanti et al. 2022).
struct Product {
  std::vector<double> n;
  double k;
  bool gathers;
};

class Layer {
 public:
  Layer(const Transformer& model, const Layout& layout, const Gpu& gpu, const RingCost& tensor)
      : m_(model),
        l_(layout),
        gpu_(gpu),
        messages_(model, layout, gpu, tensor),
        rows_(double(layout.micro_batch) * model.sequence) {}

  LayerTimes times() const {
    LayerTimes t;
    t.forward = forward();
    t.backward = backward();
    t.recomputed = recomputed(t.forward);
    const double hidden = rows_ * m_.hidden / shared();
    t.embedding_forward.elementwise += memory_seconds(gpu_, 2 * kBf16 * hidden);
    t.embedding_backward.elementwise += memory_seconds(gpu_, (kBf16 + 8) * hidden);
    const double columns = double(m_.vocabulary) / l_.tensor;
    t.head_forward.products = product_seconds(gpu_, rows_, columns, m_.hidden, Precision::bf16);
    t.head_backward.products = product_seconds(gpu_, rows_, m_.hidden, columns, Precision::bf16) +
                               product_seconds(gpu_, m_.hidden, columns, rows_, Precision::bf16);
    // The ends exchange the hidden rows as a layer's products do, and nothing hides it.
    const Message in = messages_.gather(kBf16), out = messages_.sum();
    messages_.add_alone(t.embedding_forward, out), messages_.add_alone(t.embedding_backward, in);
    messages_.add_alone(t.head_forward, in), messages_.add_alone(t.head_backward, out);
    const double logits = rows_ * columns;
    t.head_forward.elementwise +=
        memory_seconds(gpu_, (l_.fused_loss ? cost::kLossForward : cost::kFloatLossForward) * logits);
    t.head_backward.elementwise +=
        memory_seconds(gpu_, (l_.fused_loss ? cost::kLossBackward : cost::kFloatLossBackward) * logits);
    return t;
  }

 private:
  double shared() const { return l_.row_shares(); }
  double width(double columns) const { return columns / l_.tensor; }
  double queries() const { return width(double(m_.heads) * m_.head_width); }
  double keys() const { return width(double(m_.kv_heads) * m_.head_width); }
  double projected() const { return queries() + 2 * keys(); }
  double middle() const { return width(m_.feed_forward); }
  double bytes(double factor) const {
    const double over = l_.fused         ? cost::kFused
                        : !m_.gated      ? cost::kUnfused
                        : l_.fused_norms ? cost::kFusedNorms
                                         : cost::kUnfusedFloats;
    return over * factor * kBf16;
  }

  std::array<Product, 4> products() const {
    const double h = m_.hidden;
    std::vector<double> first{projected()}, second{(m_.gated ? 2 : 1) * middle()};
    if (l_.separate_inputs) first = {queries(), keys(), keys()};
    if (l_.separate_inputs && m_.gated) second = {middle(), middle()};
    return {{{first, h, true}, {{h}, queries(), false}, {second, h, true}, {{h}, middle(), false}}};
  }

  // Rows travel as they enter the product.
  Message gather() const { return messages_.gather(l_.precision == Precision::fp8 ? 1 : kBf16); }

  double seconds(double m, double n, double k) const { return product_seconds(gpu_, m, n, k, l_.precision); }

  double forward_seconds(const Product& p, double rows) const {
    double sum = 0;
    for (double n : p.n) sum += seconds(rows, n, p.k);
    return sum;
  }
  double inputs_seconds(const Product& p, double rows) const {
    double sum = 0;
    for (double n : p.n) sum += seconds(rows, p.k, n);
    return sum;
  }
  double weights_seconds(const Product& p) const {
    double sum = 0;
    for (double n : p.n) sum += seconds(p.k, n, rows_);
    return sum;
  }

  void add_forward(Work& w, const Product& p) const {
    auto product = [&](double rows) { return forward_seconds(p, rows); };
    if (p.gathers)
      messages_.add_chunked(w, product, gather(), 0);
    else
      messages_.add_chunked(w, product, messages_.sum(), m_.hidden);
  }
  void add_backward(Work& w, const Product& p) const {
    auto inputs = [&](double rows) { return inputs_seconds(p, rows); };
    // Gradients of an input that several products had are added, in all rows; the share that each rank would have with
    // its own rows is among the element-wise kernels of a layer.
    const bool several = p.n.size() > 1;
    if (several && l_.tensor > 1)
      w.elementwise += memory_seconds(gpu_, kBf16 * rows_ * p.k * (double(p.n.size()) + 1) * (1 - 1 / shared()));
    if (!p.gathers) {  // the output's gradient is gathered; without sequence parallelism each rank has all of it
      messages_.add_chunked(w, inputs, gather(), 0);
      w.products += weights_seconds(p);
    } else if (!l_.sequence_parallel) {
      w.products += inputs(rows_);
      messages_.add_beside(w, weights_seconds(p), messages_.sum());
    } else if (l_.keeps_gathered && several) {  // their sum stands between the products and their message
      w.products += inputs(rows_) + weights_seconds(p);
      messages_.add_alone(w, messages_.sum());
    } else if (l_.keeps_gathered) {
      messages_.add_chunked(w, inputs, messages_.sum(), p.k);
      w.products += weights_seconds(p);
    } else {
      messages_.add_beside(w, inputs(rows_), gather());
      messages_.add_beside(w, weights_seconds(p), messages_.sum());
    }
  }

  // The products of scores and values: 2 forward, 5 backward, the first of which repeats the scores' product.
  double attention(bool backward) const {
    const double heads = double(m_.heads) / l_.tensor * l_.micro_batch, square = double(m_.sequence) * m_.sequence;
    const double d = m_.head_width;
    if (l_.fused_attention()) {
      const double flops = (backward ? 5 : 2) * heads * square * d;  // 2 x 2 operations, half of the square
      return gpu_.kernel_seconds + flops / attention_rate(gpu_, l_.attention, m_.sequence, heads, backward);
    }
    const double rows = heads * m_.sequence;  // one batch of products for all heads
    const double one = product_seconds(gpu_, rows, m_.sequence, d, Precision::bf16);
    const double other = product_seconds(gpu_, rows, d, m_.sequence, Precision::bf16);
    // Softmax reads and writes the scores, dropout too, with a mask of one byte.
    const double moved = (backward ? 11 : 9) * heads * square;
    return (one + other) * (backward ? 2 : 1) + memory_seconds(gpu_, moved);
  }

  // Kernels of a forward pass that are no products. Bytes over those of one element: two norms, two residual sums; q
  // and k rotated; the activation.
  double elementwise() const {
    const double ways = m_.gated ? 2 : 1;
    return memory_seconds(gpu_, bytes(9) * rows_ * m_.hidden / shared()) +
           memory_seconds(gpu_, bytes(2) * rows_ * projected()) +
           memory_seconds(gpu_, bytes(ways + 1) * rows_ * middle()) +
           (l_.precision == Precision::fp8 ? forward_casts() : 0);
  }

  Work forward() const {
    Work w;
    for (const Product& p : products()) add_forward(w, p);
    w.attention = attention(false);
    w.elementwise += elementwise();
    return w;
  }

  Work backward() const {
    Work w;
    const double ways = m_.gated ? 2 : 1;
    for (const Product& p : products()) add_backward(w, p);
    if (l_.micro_batches() > 1) w.elementwise += cost::kAccumulated * layer_weights() / gpu_.memory_bandwidth;
    w.attention = attention(true);
    w.elementwise += memory_seconds(gpu_, bytes(11) * rows_ * m_.hidden / shared()) +
                     memory_seconds(gpu_, bytes(2) * rows_ * projected()) +
                     memory_seconds(gpu_, bytes(2 * ways + 1) * rows_ * middle());
    if (l_.precision == Precision::fp8) w.elementwise += backward_casts();
    return w;
  }

  Work recomputed(const Work& forward) const {
    Work w;
    if (l_.recompute == Recompute::full) {
      w = forward;
      if (l_.stops_early) {
        Work last;
        add_forward(last, products().back());
        w.add(last, -1);
      }
    } else if (l_.recompute == Recompute::selective && l_.fused_attention()) {
      // Sums over the group are kept, gathered rows are not.
      const Message again = l_.keeps_gathered ? gather() : Message{};
      w.elementwise = elementwise();
      w.products = seconds(rows_, m_.hidden, queries());
      messages_.add_chunked(
          w, [&](double rows) { return seconds(rows, keys(), m_.hidden); }, again, 0);
      if (m_.gated)
        messages_.add_chunked(
            w, [&](double rows) { return seconds(rows, middle(), m_.hidden); }, again, 0);
      else
        messages_.add_alone(w, again);
    } else if (l_.recompute == Recompute::selective) {
      w.attention = forward.attention;
    }
    return w;
  }

  // Operands of fp8 products. Rows are cast before they are gathered; backward needs transposed copies of all operands.
  double forward_casts() const {
    const double weights = l_.fp8_gather ? 0 : layer_weights();
    return memory_seconds(gpu_, cost::kCast * (rows_ * (2 * m_.hidden / shared() + queries() + middle()) + weights));
  }
  double backward_casts() const {
    const double ways = m_.gated ? 2 : 1, h = m_.hidden;
    const double inputs = 2 * h + queries() + middle(), own = projected() + ways * middle();
    return memory_seconds(gpu_, cost::kCast * rows_ * (own + 2 * h / shared()) +
                                    cost::kTranspose * (rows_ * (inputs + own + 2 * h) + layer_weights()));
  }
  double layer_weights() const {
    double n = 0;
    for (const Product& p : products())
      for (double columns : p.n) n += columns * p.k;
    return n;
  }

  const Transformer& m_;
  const Layout& l_;
  const Gpu& gpu_;
  TensorMessages messages_;
  double rows_;
};

}  // namespace

LayerTimes layer_times(const Transformer& model, const Layout& layout, const Gpu& gpu, const RingCost& tensor) {
  return Layer(model, layout, gpu, tensor).times();
}

}  // namespace ridge::network
