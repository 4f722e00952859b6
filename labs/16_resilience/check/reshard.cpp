// Task `reshard`: every element by its number in the model, through the layout of each grid.
#include "../reshard.hpp"

#include <fmt/format.h>

#include <cstring>
#include <map>

#include "../reshard_plan.hpp"
#include "checks/compare.hpp"
#include "checks/fill.hpp"
#include "checks/one_way.hpp"
#include "tasks.hpp"

namespace ridge::lab::resilience {

namespace {

// A float of a rank's file: which element of the model, counted tensor by tensor, or -1 for padding.
using Layout = std::vector<long long>;

struct Plan {
  std::vector<Tensor> tensors;
  int buckets;
  std::vector<long long> begin = {0};  // of each tensor among the model's elements

  explicit Plan(const Case& c) : buckets(static_cast<int>(c.size[1])) {
    for (std::int64_t k = 0; k < c.size[0]; ++k) {
      const auto r = [&](std::uint64_t i) { return random_bits(c.secret, static_cast<std::uint64_t>(8 * k) + i); };
      const auto most = static_cast<std::uint64_t>(c.size[5]);
      Tensor x{static_cast<int>(3 + r(0) % most), static_cast<int>(3 + r(1) % most), static_cast<Split>(k % 3),
               static_cast<int>(k * buckets / c.size[0])};
      if (x.split == Split::none) x.rows = 1;  // a bias, or the like
      tensors.push_back(x);
      begin.push_back(begin.back() + 1LL * x.rows * x.columns);
    }
  }
  Layout layout(Grid grid, int rank) const {
    const int t = rank / grid.data, d = rank % grid.data, T = grid.tensor;
    Layout all;
    for (int b = 0; b < buckets; ++b) {
      Layout bucket;
      for (std::size_t k = 0; k < tensors.size(); ++k) {
        const Tensor& x = tensors[k];
        if (x.bucket != b) continue;
        const bool by_rows = x.split == Split::rows, by_columns = x.split == Split::columns;
        const int r0 = by_rows ? x.rows * t / T : 0, r1 = by_rows ? x.rows * (t + 1) / T : x.rows;
        const int c0 = by_columns ? x.columns * t / T : 0, c1 = by_columns ? x.columns * (t + 1) / T : x.columns;
        for (int r = r0; r < r1; ++r)
          for (int c = c0; c < c1; ++c) bucket.push_back(begin[k] + 1LL * r * x.columns + c);
      }
      while (bucket.size() % static_cast<std::size_t>(grid.data) != 0) bucket.push_back(-1);
      const auto part = static_cast<std::ptrdiff_t>(bucket.size()) / grid.data;
      all.insert(all.end(), bucket.begin() + d * part, bucket.begin() + (d + 1) * part);
    }
    return all;
  }
  std::size_t tensor_of(long long element) const {
    std::size_t k = 0;
    while (begin[k + 1] <= element) ++k;
    return k;
  }
  std::string name_of(long long element) const {
    const std::size_t k = tensor_of(element);
    const long long i = element - begin[k];
    return fmt::format("element ({}, {}) of tensor {}, bucket {}", i / tensors[k].columns, i % tensors[k].columns, k,
                       tensors[k].bucket);
  }
};

// The checkpoint that the `loader`-th rank finds, counted over all grids that load: what another rank has read is of no
// use to it.
class Values {
 public:
  Values(const Case& c, int loader) : seed_(one_way_seed(c.secret, "values", static_cast<std::uint64_t>(loader))) {}
  float operator()(long long element) const {
    if (element < 0) return 0;
    const auto bits = random_bits(seed_, static_cast<std::uint64_t>(element)) >> 33;
    return static_cast<float>(static_cast<std::int32_t>(bits)) * 0x1p-20f + 1;
  }

 private:
  std::uint64_t seed_;
};
Grid from_of(const Case& c) { return {static_cast<int>(c.size[2]), static_cast<int>(c.size[3])}; }

class ReshardFiles : public files::FileSystem {
 public:
  ReshardFiles(const Case& c, std::size_t calls) : FileSystem(files::Storage{}), c_(c) {
    const Plan plan(c);
    for (int rank = 0; rank < from_of(c).ranks(); ++rank) {
      layouts_.push_back(plan.layout(from_of(c), rank));
      // A copy of a tensor that is not split holds other values: elements of its own, after all of the model's.
      if (rank >= from_of(c).data)
        for (long long& element : layouts_.back())
          if (element >= 0 && plan.tensors[plan.tensor_of(element)].split == Split::none)
            element += plan.begin.back() * (rank / from_of(c).data);
      put(shard_path(rank), contents(layouts_.back(), 0), {}, files::Access::read_only);
    }
    reset_counts();
    int loaders = 0;
    for (const auto& target : kTargets) loaders += target[0] * target[1];
    expect_marks(std::vector<std::int64_t>(calls * static_cast<std::size_t>(loaders), kNextRank));
    on_mark([this, loaders](FileSystem&, std::int64_t, std::int64_t) -> std::int64_t {
      for (std::size_t rank = 0; rank < layouts_.size(); ++rank)
        replace(shard_path(static_cast<int>(rank)), contents(layouts_[rank], next_ % loaders));
      drop_pages();
      return ++next_, 0;
    });
  }

 private:
  files::Bytes contents(const Layout& layout, int loader) const {
    const Values values(c_, loader);
    files::Bytes bytes(layout.size() * sizeof(float));
    for (std::size_t i = 0; i < layout.size(); ++i) {
      const float v = values(layout[i]);
      std::memcpy(bytes.data() + i * sizeof v, &v, sizeof v);
    }
    return bytes;
  }
  Case c_;
  std::vector<Layout> layouts_;
  int next_ = 0;
};

// Sizes: tensors, buckets, tensor and data parts of the grid that wrote, floats of out[0], the most rows.
class Reshard : public TaskCheck, public UsesFiles {
 public:
  std::string id() const override { return "reshard"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    const auto add = [&](std::int64_t tensors, std::int64_t buckets, std::int64_t t, std::int64_t d,
                         std::int64_t most) {
      Case c{
          fmt::format("{} tensors in {} bucket{}, saved on {} x {}", tensors, buckets, buckets == 1 ? "" : "s", t, d)};
      c.size = {tensors, buckets, t, d, 0, most};
      c.secret = one_way_seed(r.seed, "reshard", all.size());
      const Plan plan(c);
      for (const auto& target : kTargets)
        for (int rank = 0; rank < target[0] * target[1]; ++rank)
          c.size[4] += 1 + static_cast<std::int64_t>(plan.layout({target[0], target[1]}, rank).size());
      all.push_back(c);
    };
    add(3, 1, 1, 2, 9);
    add(7, 2, 2, 2, 14);
    add(12, 4, 2, 2, r.mode == Mode::check ? 30 : 60);
    add(9, 3, 3, 4, 20);
    return all;
  }
  Shape shape(const Case& c) const override {
    return {{static_cast<std::size_t>(c.size[0]) * 16},
            {static_cast<std::size_t>(c.size[4]) * 4},
            0,
            Place::pageable,
            Place::device};
  }
  void fill(const Case& c, std::uint64_t, Buffers in) const override {
    auto to = as<int>(in[0]);
    std::size_t at = 0;
    for (const Tensor& x : Plan(c).tensors)
      for (int v : {x.rows, x.columns, static_cast<int>(x.split), x.bucket}) to[at++] = v;
  }
  bool host_reads_inputs() const override { return true; }
  double bytes_from_host(const Case& c) const override { return static_cast<double>((1 << 16) + c.size[4] * 8); }
  Work work(const Case& c) const override { return {static_cast<double>(c.size[4]), "element", 0, 0}; }

  std::unique_ptr<files::Service> make_files(const Case& c, std::size_t calls) const override {
    return std::make_unique<ReshardFiles>(c, calls);
  }
  Verdict verify(const Case& c, ConstBuffers, ConstBuffers out) const override {
    const auto got = floats(out[0]);
    const Plan plan(c);
    std::size_t at = 0;
    int loader = 0;
    for (const auto& target : kTargets) {
      const Grid to{target[0], target[1]};
      for (int rank = 0; rank < to.ranks(); ++rank) {
        const Layout right = plan.layout(to, rank);
        const Values values(c, loader++);
        const std::string name = fmt::format("rank {} of {} x {}", rank, to.tensor, to.data);
        if (got[at++] != static_cast<float>(right.size()))
          return {false, fmt::format("{}: own_elements is {}, expected {}", name, got[at - 1], right.size()),
                  "own_elements is wrong"};
        for (std::size_t i = 0; i < right.size(); ++i, ++at) {
          const float expected = values(right[i]);
          if (std::memcmp(&got[at], &expected, 4) == 0) continue;
          return {false,
                  fmt::format("{}: float {} of {} is {}, expected {}, {}{}", name, i, right.size(), got[at], expected,
                              right[i] < 0 ? "which is padding" : plan.name_of(right[i]), whose(values, plan, got[at])),
                  "a rank gets other elements than its own"};
        }
      }
    }
    return {};
  }
  Verdict verify_files(const Case&, ConstBuffers, ConstBuffers, const files::Service& files) const override {
    return dynamic_cast<const ReshardFiles&>(files).marks_as_expected() ? Verdict{} : other_marks();
  }
  std::vector<Mark> file_marks(const Case& c, const files::Service& files) const override {
    const auto& counts = dynamic_cast<const files::FileSystem&>(files).counts();
    const Plan plan(c);
    const Grid from = from_of(c);
    std::map<long long, std::pair<int, long long>> where;  // of each element the first rank that has it
    for (int rank = 0; rank < from.ranks(); ++rank) {
      const Layout l = plan.layout(from, rank);
      for (std::size_t i = 0; i < l.size(); ++i) where.try_emplace(l[i], rank, static_cast<long long>(i));
    }
    double bytes = 0, requests = 0;
    for (const auto& target : kTargets)
      for (int rank = 0; rank < target[0] * target[1]; ++rank) {
        std::pair<int, long long> last = {-1, -1};
        for (long long element : plan.layout({target[0], target[1]}, rank)) {
          if (element < 0) {
            last = {-1, -1};
            continue;
          }
          const auto now = where.at(element);
          requests += now.first == last.first && now.second == last.second + 1 ? 0 : 1;
          bytes += 4;
          last = now;
        }
      }
    const auto read = static_cast<double>(counts.bytes_read), reads = static_cast<double>(counts.reads);
    return {ratio("bytes", read, bytes, fmt::format("{:.0f} bytes are read, {:.0f} are needed", read, bytes)),
            ratio("requests", reads, requests, fmt::format("{:.0f} requests, {:.0f} are needed", reads, requests))};
  }

 private:
  static constexpr int kMostParts = 4;  // tensor parts of a grid that wrote
  static std::string whose(const Values& values, const Plan& plan, float got) {
    for (long long e = 0; e < kMostParts * plan.begin.back(); ++e)
      if (values(e) == got)
        return "; that is " + plan.name_of(e % plan.begin.back()) +
               (e < plan.begin.back() ? "" : fmt::format(", the copy of tensor part {}", e / plan.begin.back()));
    return "";
  }
};

}  // namespace

std::unique_ptr<TaskCheck> reshard() { return std::make_unique<Reshard>(); }

}  // namespace ridge::lab::resilience
