#include "tensor_messages.hpp"

#include <algorithm>

#include "kernel_costs.hpp"

namespace ridge::network {

TensorMessages::TensorMessages(const Transformer& model, const Layout& layout, const Gpu& gpu, const RingCost& ring)
    : l_(layout),
      gpu_(gpu),
      ring_(ring),
      rows_(double(layout.micro_batch) * model.sequence),
      hidden_(rows_ * model.hidden) {}

// So many bytes of the group's rows, in so many rounds of the ring.
Message TensorMessages::message(double seconds, double bytes, int rounds) const {
  const bool copied = l_.copies_rows && l_.sequence_parallel && l_.tensor > 1;
  return {seconds, rounds * bytes * (l_.tensor - 1) / l_.tensor, copied ? memory_seconds(gpu_, 2 * bytes) : 0};
}

Message TensorMessages::gather(double element) const {
  if (!l_.sequence_parallel) return {};
  const double bytes = element * hidden_;
  return message(ring_.all_gather(bytes), bytes, 1);
}

Message TensorMessages::sum() const {
  const double bytes = kBf16 * hidden_;
  return l_.sequence_parallel ? message(ring_.reduce_scatter(bytes), bytes, 1)
                              : message(ring_.all_reduce(bytes), bytes, 2);
}

void TensorMessages::add_alone(Work& w, const Message& m) const {
  w.messages += m.seconds, w.sent += m.sent;
  w.exposed += m.seconds;
  w.elementwise += m.copied;
}

void TensorMessages::add_chunked(Work& w, const std::function<double(double)>& product, const Message& m,
                                 double summed) const {
  if (!l_.overlap_tensor || m.seconds == 0) {
    w.products += product(rows_);
    add_alone(w, m);
    return;
  }
  const double chunk = product(rows_ / l_.tensor), all = l_.tensor * chunk;
  w.messages += m.seconds, w.sent += m.sent;
  w.products += all;
  w.exposed += std::max(0.0, chunk + m.seconds - all);
  w.elementwise += summed > 0 ? memory_seconds(gpu_, kBf16 * rows_ * summed * (1 + 1.0 / l_.tensor)) : 0;
}

void TensorMessages::add_beside(Work& w, double product, const Message& m) const {
  w.products += product;
  if (!l_.overlap_tensor) {
    add_alone(w, m);
    return;
  }
  w.messages += m.seconds, w.sent += m.sent;
  w.exposed += std::max(0.0, m.seconds - product) + cost::kShareOfCollectives * std::min(m.seconds, product);
  w.elementwise += m.copied;
}

}  // namespace ridge::network
