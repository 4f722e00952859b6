// Cases, inputs, expected answers, traffic and bounds of lab 08.
#include "checks/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>

#include "ceilings/profile.hpp"
#include "check/gradients.hpp"
#include "checks/compare.hpp"
#include "checks/memo.hpp"
#include "checks/reference.hpp"
#include "shards.hpp"

namespace {

using namespace ridge::lab;
using pipeline::Schedule;
using pipeline::Shard;

struct Step {
  bool forward;
  int chunk, micro_batch;
  bool operator==(const Step&) const = default;
};
using Orders = std::vector<std::vector<Step>>;  // by rank

std::string text_of(const Step& s, int v) {
  std::string text = fmt::format("{} of micro-batch {}", s.forward ? "forward" : "backward", s.micro_batch);
  return v == 1 ? text : text + fmt::format(" in chunk {}", s.chunk);
}

// The times of a pipeline's parts: forward and backward of a chunk on each rank, and a transfer.
struct Times {
  std::vector<double> forward, backward;  // by rank
  double head_forward = 0, head_backward = 0, embedding_forward = 0, embedding_backward = 0;
  double message = 0;
};

struct Played {
  double end = 0;
  std::vector<std::vector<double>> starts;  // by rank and step
  std::string check, error;                 // ranks that wait for ever, messages that meet the wrong receive
};

// Why the step `s` of rank r waits for ever: whose step sends what it needs, and where that rank stands.
std::string waits_for(const Orders& orders, const std::vector<std::size_t>& next, int r, const Step& s, int v,
                      bool once_more = true) {
  const int p = static_cast<int>(orders.size());
  const bool around = s.forward ? r == 0 : r + 1 == p;
  const int from = s.forward ? (r + p - 1) % p : (r + 1) % p;
  const Step needed = {s.forward, around ? s.chunk + (s.forward ? -1 : 1) : s.chunk, s.micro_batch};
  const auto& order = orders[static_cast<std::size_t>(from)];
  const std::size_t at = static_cast<std::size_t>(std::find(order.begin(), order.end(), needed) - order.begin());
  std::string text = fmt::format("it needs what the {} on rank {} sends", text_of(needed, v), from);
  if (at == order.size()) return text + ", which that rank never makes";
  const std::size_t stands = next[static_cast<std::size_t>(from)];
  if (at < stands) return text;
  text += fmt::format(", step {} there", at);
  if (stands == at && once_more)
    text += fmt::format(", in which that rank waits itself: {}", waits_for(orders, next, from, needed, v, false));
  if (stands < at) text += fmt::format(", and that rank waits in its step {}, {}", stands, text_of(order[stands], v));
  return text;
}

// Each rank makes its steps in its order. A transfer begins when its step has ended, and the n-th send of a rank to a
// neighbour is the neighbour's n-th receive.
Played play(const Orders& orders, int v, const Times& t) {
  struct Sent {
    Step step;  // as the receiver calls it
    double at;
  };
  const int p = static_cast<int>(orders.size());
  std::vector<std::deque<Sent>> right(orders.size()), left(orders.size());  // by receiver
  std::vector<std::size_t> next(orders.size(), 0);
  std::vector<double> now(orders.size(), 0);
  Played out;
  out.starts.resize(orders.size());
  for (bool moved = true; moved;) {
    moved = false;
    for (int r = 0; r < p; ++r) {
      const auto ri = static_cast<std::size_t>(r);
      while (next[ri] < orders[ri].size()) {
        const Step s = orders[ri][next[ri]];
        const bool first = r == 0 && s.chunk == 0, last = r + 1 == p && s.chunk + 1 == v;
        const bool receives = s.forward ? !first : !last, sends = s.forward ? !last : !first;
        double start = now[ri];
        if (receives) {
          auto& queue = s.forward ? right[ri] : left[ri];
          if (queue.empty()) break;
          if (queue.front().step != s) {
            out.check = "mismatch";
            out.error =
                fmt::format("rank {} wants to receive for its {}, and what its neighbour sends next is for its {}", r,
                            text_of(s, v), text_of(queue.front().step, v));
            return out;
          }
          start = std::max(start, queue.front().at + t.message);
          queue.pop_front();
        }
        double seconds = s.forward ? t.forward[ri] : t.backward[ri];
        if (first) seconds += s.forward ? t.embedding_forward : t.embedding_backward;
        if (last) seconds += s.forward ? t.head_forward : t.head_backward;
        now[ri] = start + seconds;
        out.starts[ri].push_back(start);
        out.end = std::max(out.end, now[ri]);
        if (sends && s.forward)
          right[static_cast<std::size_t>((r + 1) % p)].push_back(
              {{true, r + 1 == p ? s.chunk + 1 : s.chunk, s.micro_batch}, now[ri]});
        if (sends && !s.forward)
          left[static_cast<std::size_t>((r + p - 1) % p)].push_back(
              {{false, r == 0 ? s.chunk - 1 : s.chunk, s.micro_batch}, now[ri]});
        ++next[ri];
        moved = true;
      }
    }
  }
  for (int r = 0; r < p; ++r)
    if (const auto ri = static_cast<std::size_t>(r); next[ri] < orders[ri].size() && out.error.empty())
      out.check = "deadlock",
      out.error = fmt::format("rank {} waits for ever in step {}, {}: {}", r, next[ri],
                              text_of(orders[ri][next[ri]], v), waits_for(orders, next, r, orders[ri][next[ri]], v));
  return out;
}

// On the emulated device, of the measured case's shape (B T C 1 16 16, V 8), with the weights in L2: measured, as README.md says.
constexpr double kBlockForward = 37.58e-6, kBlockBackward = 74.17e-6, kHeadForward = 10.94e-6, kHeadBackward = 12.63e-6,
                 kEmbeddingForward = 2.31e-6, kEmbeddingBackward = 4.96e-6;

// The links of collectives/topologies/infiniband.toml.
constexpr double kBetweenLatency = 10e-6, kBetweenBandwidth = 48e9;

Times times_of(const Shard& s) {
  const auto& d = ridge::default_profile().device;
  const std::vector<double> each(static_cast<std::size_t>(s.ranks), s.blocks);
  Times t{each, each, kHeadForward, kHeadBackward, kEmbeddingForward, kEmbeddingBackward, 0};
  for (double& f : t.forward) f *= kBlockForward;
  for (double& b : t.backward) b *= kBlockBackward;
  t.message =
      d.at("kernel_latency") + kBetweenLatency + static_cast<double>(s.message() * sizeof(float)) / kBetweenBandwidth;
  return t;
}

// Valid until gradients are cleared.
double start_seconds() {
  const auto& d = ridge::default_profile().device;
  return d.at("launch_call") + d.at("kernel_latency");
}

// The schedules of the papers.
Orders orders_of(Schedule schedule, int p, int m, int v) {
  Orders all(static_cast<std::size_t>(p));
  for (int r = 0; r < p; ++r) {
    auto& steps = all[static_cast<std::size_t>(r)];
    const int total = m * v;
    auto forward = [=](int i) { return v == 1 ? Step{true, 0, i} : Step{true, i / p % v, i / (p * v) * p + i % p}; };
    auto backward = [=](int i) { return Step{false, v - 1 - forward(i).chunk, forward(i).micro_batch}; };
    const int warm_up = pipeline::in_flight(schedule, p, m, v, r) - 1;
    for (int i = 0; i < total + warm_up; ++i) {
      if (i < total) steps.push_back(forward(i));
      if (i >= warm_up) steps.push_back(backward(i - warm_up));
    }
  }
  return all;
}

class Order : public TaskCheck {
 public:
  std::string id() const override { return "order"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](std::int64_t p, std::int64_t m, std::int64_t v) {
      Case c;
      c.name = fmt::format("p {}, m {}", p, m) + (v > 1 ? fmt::format(", v {}", v) : "");
      c.size = {p, m, v};
      all.push_back(c);
    };
    add(1, 3, 1), add(2, 2, 1), add(2, 4, 1), add(3, 4, 1), add(4, 8, 1), add(8, 3, 1), add(16, 100, 1);
    add(2, 4, 2), add(4, 8, 2), add(4, 4, 3), add(8, 64, 4);
    if (r.mode == Mode::grade) {
      add(random_size(r.seed, 20, 60), random_size(r.seed + 1, 70, 200), 1);
      const std::int64_t p = random_size(r.seed + 2, 6, 14);
      add(p, p * random_size(r.seed + 3, 2, 9), random_size(r.seed + 4, 2, 7));
    }
    return all;
  }
  Shape shape(const Case& c) const override {
    const auto n = static_cast<std::size_t>(c.size[0] * 2 * c.size[1] * c.size[2] * 3);
    return {{}, {n * sizeof(std::int32_t)}, 0};
  }
  void fill(const Case&, std::uint64_t, Buffers) const override {}
  Verdict verify(const Case& c, ConstBuffers, ConstBuffers out) const override {
    const int p = static_cast<int>(c.size[0]), m = static_cast<int>(c.size[1]), v = static_cast<int>(c.size[2]);
    const auto numbers = as<std::int32_t>(out[0]);
    const auto count = static_cast<std::size_t>(2 * m * v);
    Orders orders(static_cast<std::size_t>(p));
    for (std::size_t i = 0; i < numbers.size(); i += 3)
      orders[i / 3 / count].push_back({numbers[i] != 0, numbers[i + 1], numbers[i + 2]});
    for (int r = 0; r < p; ++r)
      if (Verdict verdict = verify_rank(orders[static_cast<std::size_t>(r)], p, m, v, r); !verdict.ok) return verdict;
    // A backward takes twice a forward, as its products do. Interleaved 1F1B must hide the transfers' time, too.
    for (const double message : v == 1 ? std::vector{0.0} : std::vector{0.0, kMessage})
      if (Verdict verdict = verify_time(orders, m, v, message); !verdict.ok) return verdict;
    return {};
  }
  Work work(const Case& c) const override {
    return {static_cast<double>(2 * c.size[0] * c.size[1] * c.size[2]), "step", 0, 0};
  }

 private:
  static constexpr double kMessage = 0.125;  // of a forward

  static Verdict verify_time(const Orders& orders, int m, int v, double message) {
    const std::size_t p = orders.size();
    const Times t{std::vector<double>(p, 1), std::vector<double>(p, 2), 0, 0, 0, 0, message};
    const Played played = play(orders, v, t);
    if (!played.error.empty()) return {false, played.error, "the steps of the ranks do not fit together", played.check};
    const Orders good = orders_of(Schedule::one_f_one_b, static_cast<int>(p), m, v);
    const Played best = play(good, v, t);
    if (played.end <= best.end) return {};
    std::string text = fmt::format(
        "with forwards of 1, backwards of 2 and messages of {:g} the ranks need {:g}, where ", message, played.end);
    text += message == 0 ? fmt::format("3 (m v + p - 1) = {:g}", best.end)
                         : fmt::format("3 (m v + p - 1) + {:g} x 2 (v p - 1) = {:g}", message, best.end);
    text += " would do: " + first_late(orders, played, good, best, v);
    return {false, text, "the bubble is larger than it must be", "bubble"};
  }
  // The first step in time that begins later than it could.
  static std::string first_late(const Orders& orders, const Played& played, const Orders& good, const Played& best,
                                int v) {
    double first = INFINITY;
    std::string text;
    for (std::size_t r = 0; r < orders.size(); ++r)
      for (std::size_t i = 0; i < orders[r].size(); ++i) {
        const auto same = std::find(good[r].begin(), good[r].end(), orders[r][i]);
        if (same == good[r].end()) continue;  // all steps are in both
        const double could = best.starts[r][static_cast<std::size_t>(same - good[r].begin())];
        const double at = played.starts[r][i];
        if (at <= could || at >= first) continue;
        first = at;
        text = fmt::format("rank {} begins {} (step {}) at {:g}, and could at {:g}", r, text_of(orders[r][i], v), i, at,
                           could);
      }
    return text;
  }
  // "; rank 1 so far: 0 1 2 a-": the steps to number `last` in README.md's letters, where these suffice.
  static std::string row_text(const std::vector<Step>& steps, std::size_t last, int v, int r) {
    constexpr std::size_t kMost = 24;
    if (v > 2) return {};
    std::string text = fmt::format("; rank {} so far:{}", r, last >= kMost ? " ..." : "");
    for (std::size_t i = last < kMost ? 0 : last + 1 - kMost; i <= last; ++i) {
      if (steps[i].micro_batch > 9) return {};
      text += fmt::format(" {}{}", static_cast<char>((steps[i].chunk == 0 ? '0' : 'a') + steps[i].micro_batch),
                          steps[i].forward ? "" : "-");
    }
    return text + (v > 1 ? ", where a is micro-batch 0 in chunk 1" : "");
  }
  // Of a backward before its forward, the rank's first one: what the forwards before it are.
  static std::string why_early(const std::vector<Step>& steps, std::size_t at, int p, int most) {
    const auto first = steps.begin(), end = first + static_cast<std::ptrdiff_t>(at);
    if (!std::all_of(first, end, [](const Step& s) { return s.forward; })) return {};
    const int made = static_cast<int>(at);
    if (made < most)
      return fmt::format(". Its first backward comes after {} forward{}, and the schedule has {} before it", made,
                         made == 1 ? "" : "s", most);
    if (made > p && std::all_of(first, end, [](const Step& s) { return s.chunk == 0; }))
      return fmt::format(
          ". It takes {} micro-batches through chunk 0 before one goes through chunk 1, and a round has p = {}", made,
          p);
    return {};
  }
  static Verdict verify_rank(const std::vector<Step>& steps, int p, int m, int v, int r) {
    std::set<std::pair<int, int>> forwards, backwards;
    int in_flight = 0;
    const auto failed = [&](std::size_t i, const std::string& why) {
      return fmt::format("rank {}, step {}: {}{}", r, i, why, row_text(steps, i, v, r));
    };
    const int most = pipeline::in_flight(Schedule::one_f_one_b, p, m, v, r);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Step& s = steps[i];
      const std::string where = fmt::format("rank {}, step {}: ", r, i);
      if (s.chunk == -2)  // entry.cu's note
        return {false, fmt::format("rank {} writes {} steps or more, and there are 2 m v = {}", r, s.micro_batch,
                                   steps.size())};
      if (s.micro_batch < 0 || s.micro_batch >= m || s.chunk < 0 || s.chunk >= v)
        return {false, where + fmt::format("there is no micro-batch {} of chunk {} (or the step was not written)",
                                           s.micro_batch, s.chunk)};
      const std::pair<int, int> what{s.chunk, s.micro_batch};
      if (!(s.forward ? forwards : backwards).insert(what).second)
        return {false, failed(i, "a second " + text_of(s, v))};
      if (!s.forward && forwards.count(what) == 0)
        return {false, failed(i, text_of(s, v) + " before its forward") + why_early(steps, i, p, most)};
      in_flight += s.forward ? 1 : -1;
      if (in_flight > most)
        return {
            false,
            failed(i, fmt::format("{} forwards wait for their backward, and there is memory for {}", in_flight, most)),
            "more is in flight than there is memory for", "in-flight"};
    }
    return {};  // 2 m v different steps are all
  }
};

// Sizes of a case are pipeline::Size.
class Training : public TaskCheck {
 public:
  bool host_may_wait() const override { return false; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (int p : r.ranks) {
      if (p < least_ranks()) continue;
      //          m                  v                b  B  T  C  H  V
      add(all, p, {many(p, p + 1), chunks(), p == 2 ? 2 : 1, 1, 5, 12, 2, 11});
      if (p == 2) add(all, p, {many(p, 1), chunks() + (chunks() > 1 ? 1 : 0), 1, 2, 3, 10, 1, 7});
      if (r.mode == Mode::grade && p > 1)
        add(all, p, {many(p, random_size(r.seed, 4, 7)), chunks(), 1, 1, random_size(r.seed + 1, 3, 9), 12, 2, 13});
    }
    if (const int p = r.ranks.empty() ? 0 : r.ranks.back(); p >= least_ranks()) {
      add(all, p, measured(r));
      all.back().measured = true;
      all.back().topology = "infiniband";  // each rank on a node of its own
      all.back().node = 1;
    }
    return all;
  }
  Shape shape(const Case& c) const override {
    const Shard s = shard(c, c.rank);
    const std::size_t tokens = s.rows() * static_cast<std::size_t>(s.micro_batches) * sizeof(std::int32_t);
    return {{s.elements * sizeof(float), tokens, tokens},
            {s.elements * sizeof(float), sizeof(float)},
            pipeline::memory_of(s).total(s)};
  }
  // Weights, tokens, targets. Only the first rank's tokens and the last rank's targets count.
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const Shard s = shard(c, c.rank);
    const nn::ParameterLayout layout = nn::parameter_layout(s.model);
    const auto weights = floats(in[0]);
    std::fill(weights.begin(), weights.end(), 0.0f);
    std::size_t start = 0;
    for (const nn::Range& range : s.ranges) {
      for (const nn::Parameter& p : layout.parameters) {
        if (p.offset < range.begin || p.offset >= range.end) continue;
        const auto to = weights.subspan(start + p.offset - range.begin, p.size());
        fill_normal(to, random_bits(seed, p.offset));
        // Matrices keep the magnitude of activations; no gradient is near 0.
        const float spread = p.rows > 1 ? 0.8f / std::sqrt(static_cast<float>(p.cols)) : 0.2f;
        scale_and_shift(to, spread, p.mean);
      }
      start += range.end - range.begin;
    }
    for (std::size_t i : {1u, 2u})
      fill_integers(as<std::int32_t>(in[i]), random_bits(seed, ~i), 0,
                    static_cast<std::int32_t>(s.model.vocabulary - 1));
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const int p = c.ranks;
    const nn::ModelConfig model = shard(c, 0).model;
    const nn::ParameterLayout layout = nn::parameter_layout(model);
    const Shard s = shard(c, p - 1);
    const auto answer = answers_.get(c, in, [&] { return answer_of(c, in); });
    const std::vector<Expected>& expected = answer->gradients;
    for (int r = 0; r < p; ++r) {
      const Shard mine = shard(c, r);
      const auto got = floats(out[static_cast<std::size_t>(2 * r)]);
      std::vector<std::size_t> place;  // in the model's buffer
      for (const nn::Range& range : mine.ranges)
        for (std::size_t i = range.begin; i < range.end; ++i) place.push_back(i);
      auto where = [&](std::size_t i) {
        const auto after = std::upper_bound(layout.parameters.begin(), layout.parameters.end(), place[i],
                                            [](std::size_t at, const nn::Parameter& q) { return at < q.offset; });
        const nn::Parameter& q = *std::prev(after);
        return fmt::format("rank {}, the gradient of {}[{}]", r, q.name, place[i] - q.offset);
      };
      Verdict verdict = compare_close<float>(
          got, [&](std::size_t i) { return expected[place[i]]; }, where);
      if (!verdict.ok)
        verdict.message +=
            all_zero(c, out) ? "; on every rank all gradients and the loss are 0: no forward and no backward has added "
                               "anything"
                             : what_they_are(c, in, out, expected);
      if (!verdict.ok) return verdict;
    }
    Expected e;
    e.value = answer->loss, e.magnitude = std::fabs(e.value), e.worst = INFINITY;
    e.deviation = kFp32.unit() * std::sqrt(roundings(s)) * e.magnitude;
    return compare_close<float>(
        floats(out[static_cast<std::size_t>(2 * p - 1)]), [&](std::size_t) { return e; },
        [&](std::size_t) { return fmt::format("rank {}, the loss", p - 1); });
  }
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    const int p = c.ranks;
    const Shard s = shard(c, 0);
    const std::uint64_t bytes = s.message() * sizeof(float), m = static_cast<std::uint64_t>(s.micro_batches),
                        v = static_cast<std::uint64_t>(s.chunks);
    std::map<std::pair<int, int>, std::uint64_t> expected, sent;
    for (int r = 0; p > 1 && r < p; ++r) {
      const std::uint64_t times = m * (r + 1 < p ? v : v - 1);
      expected[{r, (r + 1) % p}] += times;
      expected[{(r + 1) % p, r}] += times;
    }
    for (const Message& message : messages) {
      if (message.host) return refused("data is sent by MPI where NCCL is the task");
      if (message.bytes != bytes)
        return refused(fmt::format("rank {} sends {} bytes to rank {}: a message has B T C floats, {} bytes",
                                   message.from, message.bytes, message.to, bytes));
      if (expected[{message.from, message.to}] == 0)
        return refused(fmt::format("rank {} sends to rank {}, and has nothing for it", message.from, message.to));
      ++sent[{message.from, message.to}];
    }
    for (const auto& [way, times] : expected)
      if (sent[way] != times)
        return refused(fmt::format("rank {} sends {} messages to rank {}, and {} would do", way.first, sent[way],
                                   way.second, times));
    return {};
  }
  // Products: 2 operations an element of a weight and a row in forward, 4 in backward.
  Work work(const Case& c) const override {
    double elements = 0;
    for (int r = 0; r < c.ranks; ++r) elements += static_cast<double>(shard(c, r).elements);
    const Shard s = shard(c, 0);
    return {6 * elements * static_cast<double>(s.rows()) * s.micro_batches, "flop", 2 * 4 * elements, 4 * elements};
  }
  double bytes_from_host(const Case& c) const override {
    const Shard s = shard(c, 0);
    // Arguments of the launches: about 40 kernels a block forward and backward, at most 200 bytes each.
    return 64 * 1024 + 300.0 * (45.0 * s.blocks * s.chunks + 60) * s.micro_batches;
  }
  std::vector<Bound> bounds(const Case& c) const override {
    // The schedule, simulated with the times of its parts.
    const Shard s = shard(c, 0);
    const Times t = times_of(s);
    const double end =
        start_seconds() + play(orders_of(schedule(), c.ranks, s.micro_batches, s.chunks), s.chunks, t).end;
    double work = t.embedding_forward + t.embedding_backward + t.head_forward + t.head_backward;
    for (std::size_t r = 0; r < t.forward.size(); ++r) work += s.chunks * (t.forward[r] + t.backward[r]);
    return {{"virtual_time_over_bound", end}, {"bubble_over_bound", 1 - s.micro_batches * work / (c.ranks * end)}};
  }

 protected:
  virtual Schedule schedule() const { return Schedule::one_f_one_b; }
  virtual int least_ranks() const { return 1; }
  virtual std::int64_t chunks() const { return 1; }
  virtual std::int64_t many(int, std::int64_t m) const { return m; }  // micro-batches, about m
  // Larger on GPUs, but small enough for the reference.
  virtual std::array<std::int64_t, 8> measured(const Request& r) const {
    if (r.backend == Backend::cuda) return {8, chunks(), 2, 2, 64, 128, 4, 64};
    return {8, chunks() == 1 ? 1 : 3, chunks() == 1 ? 3 : 1, 1, 16, 16, 2, 8};
  }
  Shard shard(const Case& c, int rank) const { return pipeline::shard_of(schedule(), c.size.data(), c.ranks, rank); }

 private:
  static Verdict refused(std::string why) { return {false, std::move(why), {}, "traffic"}; }
  void add(std::vector<Case>& all, int ranks, std::array<std::int64_t, 8> size) const {
    Case c;
    c.ranks = ranks;
    c.size = size;
    const Shard s = shard(c, 0);
    c.name = fmt::format("{} rank{}, {} micro-batch{}", ranks, ranks == 1 ? "" : "s", s.micro_batches,
                         s.micro_batches == 1 ? "" : "es");
    if (s.chunks > 1) c.name += fmt::format(", {} chunks", s.chunks);
    c.name += fmt::format(", B T C {} {} {}", s.batch, s.sequence, s.model.channels);
    all.push_back(std::move(c));
  }
  // Roundings on the way of one number: in forward and backward each block has products over C, C, C, F (and attention's), and
  // a gradient is a sum over all rows.
  static double roundings(const Shard& s) {
    const double C = s.model.channels, T = s.sequence, rows = static_cast<double>(s.rows()) * s.micro_batches;
    return 2.0 * s.model.layers * (6 * C + s.model.hidden() + 2 * T) + 2 * C + s.model.vocabulary + rows;
  }
  // Errors of that many independent roundings, of numbers of the size that a tensor's gradients have. A tensor of which a part
  // is 0 in exact arithmetic (the biases of keys move no softmax) is why the size is the tensor's.
  static std::vector<Expected> expected_of(const nn::ParameterLayout& layout, const std::vector<double>& gradients,
                                           const Shard& s) {
    std::vector<Expected> all(gradients.size());
    for (const nn::Parameter& p : layout.parameters) {
      double squares = 0;
      for (std::size_t i = 0; i < p.size(); ++i) squares += gradients[p.offset + i] * gradients[p.offset + i];
      const double typical = std::sqrt(squares / static_cast<double>(p.size()));
      for (std::size_t i = 0; i < p.size(); ++i) {
        Expected& e = all[p.offset + i];
        e.value = gradients[p.offset + i];
        e.magnitude = std::hypot(typical, e.value);
        e.deviation = kFp32.unit() * std::sqrt(roundings(s)) * e.magnitude;
        e.worst = INFINITY;
      }
    }
    return all;
  }

  static bool all_zero(const Case& c, ConstBuffers out) {
    return std::all_of(out.begin(), out.begin() + 2 * c.ranks, [](std::span<const std::byte> b) {
      const auto values = as<float>(b);
      return std::all_of(values.begin(), values.end(), [](float x) { return x == 0; });
    });
  }

  // Of the last rank with wrong gradients: where they come from.
  std::string what_they_are(const Case& c, ConstBuffers in, ConstBuffers out,
                            const std::vector<Expected>& expected) const {
    namespace wrong = pipeline_gradients;
    if (c.measured) return {};
    const Shard s = shard(c, c.ranks - 1);
    const nn::ParameterLayout layout = nn::parameter_layout(s.model);
    auto fits = [&](int rank, const std::vector<Expected>& all) {
      const auto got = floats(out[static_cast<std::size_t>(2 * rank)]);
      std::size_t at = 0;
      for (const nn::Range& range : shard(c, rank).ranges)
        for (std::size_t i = range.begin; i < range.end; ++i, ++at)
          if (!(std::fabs(static_cast<double>(got[at]) - all[i].value) <= 8 * all[i].deviation)) return false;
      return true;
    };
    int rank = c.ranks - 1;
    while (rank > 0 && fits(rank, expected)) --rank;
    const auto fits_here = [&](const std::vector<double>& gradients) {
      return fits(rank, expected_of(layout, gradients, s));
    };
    const std::vector<double> weights = weights_of(c, in);
    const auto tokens = as<std::int32_t>(in[1]),
               targets = as<std::int32_t>(in[static_cast<std::size_t>(3 * c.ranks - 1)]);
    const double scale = 1.0 / static_cast<double>(tokens.size());
    std::vector<std::vector<double>> parts;
    std::vector<wrong::Flow> flows;
    for (std::size_t k = 0; k < static_cast<std::size_t>(s.micro_batches); ++k) {
      const auto own = tokens.subspan(k * s.rows(), s.rows()), wanted = targets.subspan(k * s.rows(), s.rows());
      parts.emplace_back(layout.elements, 0);
      nn::reference::loss(s.model, layout, weights, own, wanted, s.batch, s.sequence, scale, parts.back());
      if (s.chunks == 1) flows.emplace_back(s.model, layout, weights, own, wanted, s.batch, s.sequence, scale);
    }
    if (const auto missing = wrong::missing_in(parts, fits_here); !missing.empty())
      return wrong::missing_text(missing, rank, s.micro_batches);
    if (rank + 1 == c.ranks || s.chunks > 1) return {};
    return wrong::arrived_text(flows, static_cast<std::size_t>(shard(c, rank + 1).first_block(0)), layout.elements,
                               rank, fits_here);
  }

  struct Answer {
    std::vector<Expected> gradients;  // in the order of the model's buffer
    double loss;
  };
  // All ranks' weights, in the order of the model's buffer.
  std::vector<double> weights_of(const Case& c, ConstBuffers in) const {
    std::vector<double> weights(nn::parameter_layout(shard(c, 0).model).elements, 0);
    for (int r = 0; r < c.ranks; ++r) {
      std::size_t at = 0;
      const auto own = floats(in[static_cast<std::size_t>(3 * r)]);
      for (const nn::Range& range : shard(c, r).ranges)
        for (std::size_t i = range.begin; i < range.end; ++i) weights[i] = static_cast<double>(own[at++]);
    }
    return weights;
  }
  Answer answer_of(const Case& c, ConstBuffers in) const {
    const int p = c.ranks;
    const Shard s = shard(c, p - 1);
    const nn::ParameterLayout layout = nn::parameter_layout(s.model);
    const std::vector<double> weights = weights_of(c, in);
    std::vector<double> gradients(layout.elements, 0);
    const auto tokens = as<std::int32_t>(in[1]), targets = as<std::int32_t>(in[static_cast<std::size_t>(3 * p - 1)]);
    // All micro-batches are one batch.
    const double loss = nn::reference::loss(s.model, layout, weights, tokens, targets, s.batch * s.micro_batches,
                                            s.sequence, 1.0 / static_cast<double>(tokens.size()), gradients);
    return {expected_of(layout, gradients, s), loss};
  }

  Memo<Answer> answers_{32};
};

class GPipe : public Training {
 public:
  std::string id() const override { return "gpipe"; }

 protected:
  Schedule schedule() const override { return Schedule::gpipe; }
};

class OneFOneB : public Training {
 public:
  std::string id() const override { return "one_f_one_b"; }
};

class Interleaved : public Training {
 public:
  std::string id() const override { return "interleaved"; }

 protected:
  int least_ranks() const override { return 2; }
  std::int64_t chunks() const override { return 2; }
  std::int64_t many(int p, std::int64_t m) const override { return (m + p - 1) / p * p; }
};

TaskChecks make() {
  TaskChecks checks;
  checks.push_back(std::make_unique<Order>());
  checks.push_back(std::make_unique<GPipe>());
  checks.push_back(std::make_unique<OneFOneB>());
  checks.push_back(std::make_unique<Interleaved>());
  return checks;
}

[[maybe_unused]] const bool registered = add_lab("08_pipeline", make);

}  // namespace
