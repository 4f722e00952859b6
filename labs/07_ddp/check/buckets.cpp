// Buckets that are summed while backward runs, for one batch and for micro-batches.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common.hpp"

namespace ridge::lab::ddp {

namespace {

// Buckets, while backward runs.
class Overlapped : public Training {
 public:
  std::string id() const override { return "overlapped"; }
  Shape shape(const Case& c) const override {
    Shape s = Training::shape(c);
    s.workspace = s.out[0];  // the gradients
    return s;
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const auto expected_g = expected_gradient(c, in, 2);
    const Gradient& g = *expected_g;
    for (std::size_t r = 0; r < static_cast<std::size_t>(c.ranks); ++r)
      if (Verdict v = verify_gradient(c, g, in, 2, floats(out[r]), r); !v.ok) return v;
    return same_bits(out, 1, 0, "gradients");
  }
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    const Traffic t(c, messages);
    if (Verdict v = verify_all_reduce(c, t, false, "the all-reduces of all buckets"); !v.ok) return v;
    const auto p = static_cast<std::uint64_t>(c.ranks), steps = 2 * (p - 1);
    std::vector<std::uint64_t> wanted;
    for (std::size_t elements : buckets(c)) wanted.push_back(4 * elements);
    Case counted = c;  // with bucket_bytes for a number of elements
    counted.size[7] *= 4;
    std::vector<std::uint64_t> of_elements;
    for (std::size_t elements : buckets(counted)) of_elements.push_back(4 * elements);
    for (int r = 0; r < c.ranks && p > 1; ++r) {
      // Each of an all-reduce's transfers has a p-th of it.
      std::vector<std::uint64_t> sent, sizes;
      for (const Message& m : messages)
        if (m.from == r) sent.push_back(p * m.bytes);
      for (std::size_t i = 0; i < sent.size(); i += steps) sizes.push_back(sent[i]);
      if (sizes == wanted && sent.size() == steps * wanted.size()) continue;
      return refused(fmt::format(
          "rank {} sums {} bytes in {} all-reduce{} ({}), and buckets that are complete with {} bytes or "
          "more are {} ({}){}",
          r, t.bytes / steps, sizes.size(), sizes.size() == 1 ? "" : "s", listed(sizes), c.size[7], wanted.size(),
          listed(wanted),
          sizes != of_elements ? ""
          : sizes.size() > 1   ? ": these are buckets of bucket_bytes elements, 4 bytes each"
                               : ": with bucket_bytes elements in place of bytes, too, one bucket would hold all"));
    }
    return {};
  }

 protected:
  static std::string listed(const std::vector<std::uint64_t>& sizes) {
    const auto shown = std::span(sizes).first(std::min<std::size_t>(sizes.size(), 6));
    return fmt::format("{}{}", fmt::join(shown, ", "), sizes.size() > 6 ? ", ..." : "");
  }
  std::int64_t bucket_bytes(std::int64_t all) const override { return all / 3; }
  // Elements of each bucket.
  static std::vector<std::size_t> buckets(const Case& c) {
    const nn::ParameterLayout layout = Training::layout(c);
    std::vector<std::size_t> ends = {layout.head.end};
    for (std::size_t l = layout.blocks.size(); l-- > 0;)
      ends.insert(ends.end(), {layout.at.blocks[l].proj_w, layout.blocks[l].end});
    ends.push_back(layout.elements);
    std::vector<std::size_t> sizes;
    std::size_t begin = 0;
    for (std::size_t end : ends)
      if (4 * (end - begin) >= static_cast<std::size_t>(c.size[7]) || end == layout.elements)
        sizes.push_back(end - begin), begin = end;
    return sizes;
  }
  // A bucket that is complete to the byte: the head and the last block's MLP.
  void add_small(int ranks, std::vector<Case>& all) const override {
    if (ranks != 2) return;
    Case c = small(ranks, 1, 16, 2, 5, 11, 3);
    c.size[7] = 4 * static_cast<std::int64_t>(layout(c).at.blocks[0].proj_w);
    all.push_back(c);
  }
  void add_measured(const Request& r, std::vector<Case>& all) const override {
    Case c;
    const int p = std::min(most_measured(), r.ranks.back());
    if (r.backend == Backend::cuda) {
      // On a GPU a step of so few tokens takes as long as its launches, some 200 a block. So few blocks, and wide ones: 100 MB
      // of gradients are worth hiding, and the reference has no more to compute than 16 tokens a rank.
      c = small(r.ranks.back(), 2, 1024, 16, 16, 500, r.ranks.back());
      c.size[7] = 12 << 20;
    } else {
      c = small(p, 4, 64, 2, 64, 61, 6 * p);
      if (c.size[6] > 1) c.size[6] = 2, c.size[3] = 16;  // half as long in all
      c.size[7] = 128 << 10;
      c.topology = "ethernet";
    }
    c.measured = true;
    all.push_back(c);
  }
  // The time of one rank alone for the measured case, and that of its kernels: measured on the emulator, since they have no
  // formula.
  std::vector<Bound> bounds(const Case&) const override {
    return {{"virtual_time_over_bound", 2742e-6}, {"exposed_messages", 2715e-6}};
  }
};

class Accumulated : public Overlapped {
 public:
  std::string id() const override { return "accumulated"; }

 protected:
  std::int64_t micro_batches(int p) const override { return p == 2 ? 3 : 2; }
  int most_measured() const override { return 2; }
  std::vector<Bound> bounds(const Case&) const override { return {{"exposed_messages", 3644e-6}}; }
};

}  // namespace

std::unique_ptr<TaskCheck> overlapped() { return std::make_unique<Overlapped>(); }
std::unique_ptr<TaskCheck> accumulated() { return std::make_unique<Accumulated>(); }

}  // namespace ridge::lab::ddp
