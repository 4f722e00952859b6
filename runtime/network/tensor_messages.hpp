// What a tensor-parallel group exchanges: the hidden rows of a micro-batch, beside products or between them.
#pragma once
#include <functional>

#include "gpu.hpp"
#include "layout.hpp"
#include "links/group_times.hpp"
#include "transformer.hpp"
#include "work.hpp"

namespace ridge::network {

struct Message {
  double seconds = 0;
  double sent = 0;    // bytes of each rank
  double copied = 0;  // s of the kernel that lays its rows out anew, where it travels whole
};

class TensorMessages {
 public:
  TensorMessages(const Transformer& model, const Layout& layout, const Gpu& gpu, const RingCost& ring);

  // With sequence parallelism each rank has its share of the rows: they are gathered before a product, and its output
  // is summed and shared out. Without it all have all rows: nothing is gathered, and sums are all-reduces.
  // `element`: bytes of an element.
  Message gather(double element) const;
  Message sum() const;

  // A message that nothing hides.
  void add_alone(Work& work, const Message& message) const;
  // A product, as the seconds of so many rows, and its message, which chunk by chunk travels before the product or
  // behind it: with `tensor` chunks, one of which is at home. `summed`: columns of parts that arrive and are summed by
  // a kernel.
  void add_chunked(Work& work, const std::function<double(double rows)>& product, const Message& message,
                   double summed) const;
  // A message beside a whole product that does not need it.
  void add_beside(Work& work, double product, const Message& message) const;

 private:
  Message message(double seconds, double bytes, int rounds) const;

  const Layout& l_;
  const Gpu& gpu_;
  const RingCost& ring_;
  double rows_, hidden_;
};

}  // namespace ridge::network
