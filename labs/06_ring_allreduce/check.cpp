// Cases, inputs, expected answers and traffic of lab 06.
#include "checks/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "ceilings/profile.hpp"
#include "check/terms.hpp"
#include "check/traffic.hpp"
#include "checks/compare.hpp"

namespace {

using namespace ridge::lab;
using ridge::Cause;

// The sum over all ranks, on all ranks. T: float or Bf16. Sizes of a case: n, in place, ranks of a node, slices.
template <class T>
class AllReduce : public TaskCheck {
 public:
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (int p : r.ranks) {
      std::vector<std::int64_t> sizes = {std::max(1, p / 2), 1000 + 13 * p};
      if (r.mode == Mode::grade) sizes.push_back(random_size(r.seed, 2000, 20000));
      for (std::size_t i = 0; i < sizes.size(); ++i)
        add(all, p, sizes[i], may_be_in_place() && i == 1, per_node(p, i == 1));
    }
    if (const std::int64_t n = measured_elements(r); n > 0 && !r.ranks.empty()) {
      add(all, measured_ranks(r), n, false, per_node(measured_ranks(r), true));
      all.back().size[3] = 2;
      all.back().measured = true;
    }
    return all;
  }
  Shape shape(const Case& c) const override {
    const std::size_t bytes = static_cast<std::size_t>(c.size[0]) * sizeof(T);
    return {{bytes}, {bytes}, bytes};
  }
  void fill(const Case&, std::uint64_t seed, Buffers in) const override { fill_normal(as<T>(in[0]), seed); }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const SumTolerance tolerance = precision().of_length(c.ranks);
    for (int r = 0; r < c.ranks; ++r) {
      auto expected = [&](std::size_t i) {
        double sum = 0, magnitude = 0, squares = 0;
        for (int k = 0; k < c.ranks; ++k) {
          const auto x = static_cast<double>(as<T>(in[static_cast<std::size_t>(k)])[i]);
          sum += x, magnitude += std::fabs(x), squares += x * x;
        }
        return tolerance.of(sum, magnitude, squares);
      };
      auto where = [&](std::size_t i) { return fmt::format("rank {}, out[{}]", r, i); };
      Verdict v = compare_close<T>(as<T>(out[static_cast<std::size_t>(r)]), expected, where, 8);
      if (v.ok) continue;
      v.message += what_it_is(c, in, out, r, expected);
      return v;
    }
    for (int r = 1; r < c.ranks; ++r)
      if (Verdict v = same_bits(out, r); !v.ok) return v;
    return {};
  }
  void tell_of_messages(const Case& c, std::span<const Message> messages, Verdict& failed) const override {
    if (c.ranks == 1 || failed.check != "correct" || failed.message.find(" wrong") == std::string::npos) return;
    if (!messages.empty()) {
      const std::string text = ring_allreduce::both_from_one_text(messages, c.ranks, c.size[0]);
      if (failed.cause != Cause::not_a_number || text.empty()) return;
      failed.message += text, failed.cause = Cause::none;
      return;
    }
    if (const std::size_t at = failed.message.find(where_missing());
        at != std::string::npos && !where_missing().empty())
      failed.message.erase(at, where_missing().size());
    failed.message +=
        failed.message.ends_with("bit for bit") ? ", and no rank has sent a message" : "; no rank has sent a message";
    if (failed.cause != Cause::not_a_number) return;
    failed.cause = Cause::none;
    if (c.size[0] < c.ranks)
      failed.message += fmt::format(": with n {} and p {}, which chunk holds element 0?", c.size[0], c.ranks);
  }
  // The kernels add p - 1 chunks to others.
  Work work(const Case& c) const override {
    const double sums = static_cast<double>(c.size[0]) * (c.ranks - 1) / c.ranks;
    return {sums, "addition", 2 * sums * sizeof(T), sums * sizeof(T)};
  }
  bool host_reads_inputs() const override { return false; }

 protected:
  virtual bool may_be_in_place() const { return true; }
  virtual int per_node(int ranks, bool /*large*/) const { return ranks; }
  virtual std::int64_t slices(std::size_t) const { return 1; }  // of a case, by its place
  virtual std::int64_t measured_elements(const Request&) const { return 0; }
  virtual int measured_ranks(const Request& r) const { return r.ranks.back(); }
  // NCCL takes some 0.1 and 0.3 ms for these sizes.
  static std::int64_t on_gpus(const Request& r) {
    return static_cast<std::int64_t>((r.mode == Mode::check ? 16 : 64) << 20) / static_cast<std::int64_t>(sizeof(T));
  }
  virtual Tolerance precision() const { return {}; }
  // Said of an element in which values of ranks are missing, or that is no sum of such values.
  virtual std::string where_missing() const { return {}; }

  static bool near(double got, const Expected& e) {
    return std::fabs(got - e.value) <= std::min(8 * e.deviation, e.worst);
  }
  // Of rank r's first wrong element: the terms that it holds, or the ranks where it is right.
  template <class Of>
  std::string what_it_is(const Case& c, ConstBuffers in, ConstBuffers out, int r, Of expected) const {
    constexpr std::size_t kLooked = 16;
    const auto n = static_cast<std::size_t>(c.size[0]);
    const auto own = in[static_cast<std::size_t>(r)], result = out[static_cast<std::size_t>(r)];
    if (c.ranks > 1 && std::memcmp(own.data(), result.data(), result.size()) == 0)
      return fmt::format("; out is rank {}'s own `in`, bit for bit{}", r, where_missing());
    auto got = [&](int rank, std::size_t i) {
      return static_cast<double>(as<T>(out[static_cast<std::size_t>(rank)])[i]);
    };
    std::size_t first = 0;
    while (first < n && near(got(r, first), expected(first))) ++first;
    if (first == n) return {};
    if (std::isnan(got(r, first))) {
      std::vector<int> right;
      for (int k = 0; k < c.ranks; ++k)
        if (near(got(k, first), expected(first))) right.push_back(k);
      if (right.empty()) return c.ranks == 1 ? "" : "; no rank has the right value there";
      return fmt::format("; {} {} the right value there, which has not come to rank {}",
                         ring_allreduce::ranks_text(right), right.size() == 1 ? "has" : "have", r);
    }
    // Neighbours in the same chunk.
    const std::size_t chunk = (n + static_cast<std::size_t>(c.ranks) - 1) / static_cast<std::size_t>(c.ranks);
    std::vector<ring_allreduce::Element> elements;
    for (std::size_t i = first; i < n && i / chunk == first / chunk && elements.size() < kLooked; ++i) {
      if (near(got(r, i), expected(i))) break;
      ring_allreduce::Element e{{}, got(r, i)};
      for (int k = 0; k < c.ranks; ++k)
        e.values.push_back(static_cast<double>(as<T>(in[static_cast<std::size_t>(k)])[i]));
      elements.push_back(std::move(e));
    }
    const bool coarse = sizeof(T) < sizeof(float);  // few digits: a few elements fit by chance
    if (coarse && elements.size() < kLooked) return {};
    const auto times = ring_allreduce::times_in(elements, precision().of_length(c.ranks));
    if (times.empty()) return where_missing();
    const std::string text =
        ring_allreduce::terms_text(times, fmt::format("out[{}]", first), r, static_cast<int>(c.size[2]));
    const bool twice = std::count(times.begin(), times.end(), 2) != 0;
    return (text.empty() ? "" : "; " + text) + (twice ? "" : where_missing());
  }

  // Transfers go to the right neighbour, none is larger than a chunk, and each chunk travels p - 1 steps twice.
  static Verdict verify_ring(const Case& c, std::span<const Message> messages, bool host) {
    const auto n = static_cast<std::uint64_t>(c.size[0]), p = static_cast<std::uint64_t>(c.ranks);
    const std::uint64_t chunk = (n + p - 1) / p * sizeof(T), needed = 2 * (p - 1) * n * sizeof(T);
    std::uint64_t sent = 0;
    for (const Message& m : messages) {
      if (m.collective) return refused(kCollective);
      if (m.host != host)
        return refused(host ? "data is sent by NCCL where MPI is the task" : "data is sent by MPI where NCCL is");
      if (m.to != (m.from + 1) % c.ranks)
        return refused(fmt::format("rank {} sends to rank {}: on the ring it sends to rank {} only", m.from, m.to,
                                   (m.from + 1) % c.ranks));
      if (m.bytes > chunk)
        return refused(fmt::format("rank {} sends {} bytes at once, and a chunk has {}", m.from, m.bytes, chunk));
      sent += m.bytes;
    }
    if (sent != needed)
      return refused(
          fmt::format("all ranks together send {} bytes, and the ring needs 2 (p - 1) n = {} values, {} bytes", sent,
                      needed / sizeof(T), needed));
    return {};
  }
  static constexpr const char* kCollective =
      "a collective of NCCL moves the data: the task is to move it with ncclSend and ncclRecv";
  static Verdict refused(std::string why) { return {false, std::move(why), {}, "traffic"}; }

  void add(std::vector<Case>& all, int ranks, std::int64_t n, bool in_place, int node) const {
    Case c;
    c.ranks = ranks;
    c.size = {n, in_place ? 1 : 0, node, slices(all.size())};
    c.name = fmt::format("{} rank{}, n {}{}", ranks, ranks == 1 ? "" : "s", n, in_place ? ", in place" : "");
    if (slices(all.size()) > 1) c.name += fmt::format(", {} slices", c.size[3]);
    if (node != ranks) {
      c.name += fmt::format(", {} a node", node);
      c.topology = "infiniband";
      c.node = node;
    }
    all.push_back(std::move(c));
  }

 private:
  static Verdict same_bits(ConstBuffers out, int r) {
    const auto first = as<T>(out[0]), other = as<T>(out[static_cast<std::size_t>(r)]);
    std::size_t i = 0;
    while (i < first.size() && std::memcmp(&first[i], &other[i], sizeof(T)) == 0) ++i;
    if (i == first.size()) return {};
    return {false,
            fmt::format("out[{}] is {:.9g} on rank 0 and {:.9g} on rank {}: each adds in another order. A sum must be "
                        "made once, and handed on",
                        i, static_cast<double>(first[i]), static_cast<double>(other[i]), r),
            "ranks have different answers", "agree"};
  }
};

// The times of a group with a send and a receive, and of an addition, on the emulated device.
struct Wire {
  double latency, bandwidth;
};
double exchange_seconds(double bytes, const Wire& w) {
  return ridge::default_profile().device.at("kernel_latency") + w.latency + bytes / w.bandwidth;
}
double exchange_seconds(double bytes) {
  const auto& d = ridge::default_profile().device;
  return exchange_seconds(bytes, {d.at("copy_latency"), d.at("peer_bandwidth")});
}
double sum_seconds(double bytes) {
  const auto& d = ridge::default_profile().device;
  return d.at("kernel_latency") + 3 * bytes / (d.at("dram_bandwidth") * d.at("dram_efficiency"));
}

class Staged : public AllReduce<float> {
 public:
  std::string id() const override { return "staged"; }
  bool host_reads_inputs() const override { return true; }  // that is the task
  double bytes_from_host(const Case& c) const override { return 64 * 1024 + 5.0 * 4 * static_cast<double>(c.size[0]); }
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    return verify_ring(c, messages, true);
  }

 protected:
  bool may_be_in_place() const override { return false; }
  std::string where_missing() const override {
    return "; cudaMemcpyAsync only begins a copy: has each copy ended before MPI reads its host buffer, or writes into "
           "it?";
  }
  // Not timed on GPUs: a ring through the host cannot keep up with NCCL.
  std::int64_t measured_elements(const Request& r) const override { return r.backend == Backend::cuda ? 0 : 40000; }
};

class Ring : public AllReduce<float> {
 public:
  std::string id() const override { return "ring"; }
  bool host_may_wait() const override { return false; }
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    return verify_ring(c, messages, false);
  }
  std::vector<Bound> bounds(const Case& c) const override {
    const double steps = c.ranks - 1, chunk = 4.0 * static_cast<double>(c.size[0]) / c.ranks;
    const double call = ridge::default_profile().device.at("launch_call");
    return {{"virtual_time_over_bound", call + steps * (2 * exchange_seconds(chunk) + sum_seconds(chunk))}};
  }

 protected:
  std::int64_t measured_elements(const Request& r) const override {
    if (r.backend == Backend::cuda) return on_gpus(r);
    return r.mode == Mode::check ? 1 << 19 : 1 << 21;
  }
  int measured_ranks(const Request& r) const override {
    return r.backend == Backend::cuda ? r.ranks.back() : std::min(4, r.ranks.back());
  }
};

class Pipelined : public AllReduce<Bf16> {
 public:
  std::string id() const override { return "pipelined"; }
  bool host_may_wait() const override { return false; }
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    if (Verdict v = verify_ring(c, messages, false); !v.ok) return v;
    const auto n = static_cast<std::uint64_t>(c.size[0]), p = static_cast<std::uint64_t>(c.ranks);
    const auto wanted = static_cast<std::uint64_t>(c.size[3]);
    const std::uint64_t chunk = (n + p - 1) / p, slice = (chunk + wanted - 1) / wanted * sizeof(Bf16);
    // The transfers of the reduce-scatter are slices; those of the all-gather may be.
    const std::uint64_t most = 2 * p * (p - 1) * ((chunk * sizeof(Bf16) + slice - 1) / slice);
    std::uint64_t in_slices = 0;
    for (const Message& m : messages) in_slices += m.bytes <= slice ? m.bytes : 0;
    if (in_slices < (p - 1) * n * sizeof(Bf16))
      return refused(fmt::format(
          "{} bytes travel in messages of a slice or less, and the reduce-scatter alone sends (p - 1) n = {} "
          "values, {} bytes, in such: a slice is {} of a chunk's {} values, {} bytes, and rank {}'s first "
          "message has {} bytes",
          in_slices, (p - 1) * n, (p - 1) * n * sizeof(Bf16), slice / sizeof(Bf16), chunk, slice, messages.front().from,
          messages.front().bytes));
    if (messages.size() > most)
      return refused(
          fmt::format("{} messages, and chunks in {} slices need {} at most", messages.size(), wanted, most));
    return {};
  }
  // The additions' time, with a kernel of one value a thread: 2.2 us + bytes / 550 GB/s on the emulator.
  std::vector<Bound> bounds(const Case& c) const override {
    const double steps = c.ranks - 1, n = static_cast<double>(c.size[0]), wanted = static_cast<double>(c.size[3]);
    return {{"exposed_compute", steps * (wanted * 2.2e-6 + sizeof(Bf16) * n / c.ranks / 550e9)}};
  }

 protected:
  std::int64_t slices(std::size_t place) const override {
    constexpr std::int64_t kSlices[] = {1, 16, 3, 5, 2, 16, 7, 11, 4, 9};
    return kSlices[place % std::size(kSlices)];
  }
  // Slices must take longer than the host needs to issue the next one.
  std::int64_t measured_elements(const Request& r) const override {
    if (r.backend == Backend::cuda) return on_gpus(r);
    return 3 << 21;
  }
  // Three slices: from the second step on a slice's transfer may run during the last additions of the step before.
  int measured_ranks(const Request& r) const override {
    return r.backend == Backend::cuda ? r.ranks.back() : std::min(3, r.ranks.back());
  }
  Tolerance precision() const override { return {kBf16, kFp64, kBf16}; }
};

class Hierarchical : public AllReduce<float> {
 public:
  std::string id() const override { return "hierarchical"; }
  bool host_may_wait() const override { return false; }
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    const auto n = static_cast<std::uint64_t>(c.size[0]);
    const int local = static_cast<int>(c.size[2]), nodes = c.ranks / local;
    std::uint64_t inside = 0, between = 0;
    for (const Message& m : messages) {
      if (m.collective) return refused(kCollective);
      if (m.host) return refused("data is sent by MPI where NCCL is the task");
      const bool same_node = m.from / local == m.to / local;
      (same_node ? inside : between) += m.bytes;
    }
    if (std::string text = ring_allreduce::wrong_place_text(messages, c.ranks, local); !text.empty())
      return refused(std::move(text));
    const std::uint64_t most_between = 2 * static_cast<std::uint64_t>(nodes - 1) * n * 4;
    const std::uint64_t most_inside = 2 * static_cast<std::uint64_t>((local - 1) * nodes) * n * 4;
    const auto p = static_cast<std::uint64_t>(c.ranks);
    const std::string idle = ring_allreduce::idle_adapters_text(messages, c.ranks, local, most_between / p);
    if (between > most_between)
      return refused(fmt::format(
          "{} bytes pass between the nodes, {} the 2 (nodes - 1) n = {} floats, {} bytes, that would do{}", between,
          ring_allreduce::times_text(between, most_between), most_between / 4, most_between, idle));
    if (inside > most_inside)
      return refused(
          fmt::format("{} bytes pass inside the nodes, {} the 2 nodes (per_node - 1) n = {} floats, {} bytes, "
                      "that would do{}",
                      inside, ring_allreduce::times_text(inside, most_inside), most_inside / 4, most_inside, idle));
    return {};
  }
  void tell_of_messages(const Case& c, std::span<const Message> messages, Verdict& failed) const override {
    const int local = static_cast<int>(c.size[2]);
    if (failed.check == "deadlock") {
      if (std::string text = ring_allreduce::wrong_place_text(messages, c.ranks, local); !text.empty())
        failed.message += "\n" + text;
      return;
    }
    AllReduce::tell_of_messages(c, messages, failed);
    std::uint64_t between = 0;
    for (const Message& m : messages) between += m.from / local != m.to / local ? m.bytes : 0;
    if (between > 0 && failed.message.ends_with("nothing of other nodes is in it"))
      failed.message += fmt::format(
          ", though {} bytes passed between the nodes: is it the part that the all-gather spreads?", between);
  }
  std::vector<Bound> bounds(const Case& c) const override {
    // The links of collectives/topologies/infiniband.toml.
    constexpr Wire kInside{5e-6, 365e9}, kBetween{10e-6, 48e9};
    const double bytes = 4.0 * static_cast<double>(c.size[0]), local = static_cast<double>(c.size[2]);
    const double nodes = c.ranks / local, chunk = bytes / local;
    return {{"virtual_time_over_bound",
             ridge::default_profile().device.at("launch_call") +
                 (local - 1) * (2 * exchange_seconds(chunk, kInside) + sum_seconds(chunk)) +
                 (nodes - 1) * (2 * exchange_seconds(chunk / nodes, kBetween) + sum_seconds(chunk / nodes))}};
  }

 protected:
  bool may_be_in_place() const override { return false; }
  // 3 nodes of 1; 4 of 1 and 2 of 2; 4 of 2 and 2 of 4.
  int per_node(int ranks, bool large) const override {
    if (ranks % 4 != 0) return 1;
    return large ? ranks / 2 : ranks / 4;
  }
  std::int64_t measured_elements(const Request& r) const override {
    return r.backend == Backend::cuda ? on_gpus(r) : 1 << 17;
  }
};

// The judge sees no loads and stores over links, and counts none.
class Peer : public AllReduce<float> {
 public:
  std::string id() const override { return "peer"; }
  Shape shape(const Case& c) const override {
    Shape s = AllReduce::shape(c);
    s.workspace = 0;
    return s;
  }

 protected:
  std::int64_t measured_elements(const Request& r) const override { return on_gpus(r); }
};

TaskChecks make() {
  TaskChecks checks;
  checks.push_back(std::make_unique<Staged>());
  checks.push_back(std::make_unique<Ring>());
  checks.push_back(std::make_unique<Pipelined>());
  checks.push_back(std::make_unique<Hierarchical>());
  checks.push_back(std::make_unique<Peer>());
  return checks;
}

[[maybe_unused]] const bool registered = add_lab("06_ring_allreduce", make);

}  // namespace
