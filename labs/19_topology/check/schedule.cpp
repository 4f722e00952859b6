// Orders and paths, played by the flows of runtime/network: the links and routes here are that library's and not the
// contract's.
#include "../schedule.hpp"

#include <fmt/format.h>

#include <cstring>

#include "common.hpp"
#include "network/links/fabric.hpp"
#include "network/links/flows.hpp"

namespace ridge::lab::topology {

namespace {

enum Traffic : std::int64_t { even, uneven, shifted };
constexpr const char* kTraffic[] = {"all to all", "experts", "to the next unit"};

// Sizes of a case: dragonfly, units, nodes per unit, paths, oversubscription, traffic, transfers, seed of the traffic.
struct Fabric {
  network::Links links;
  int units, unit;
  bool dragonfly;
  explicit Fabric(const Case& c)
      : links(fabric(c), static_cast<int>(c.size[1] * c.size[2])),
        units(static_cast<int>(c.size[1])),
        unit(static_cast<int>(c.size[2])),
        dragonfly(c.size[0] != 0) {}
  static network::Fabric fabric(const Case& c) {
    network::Fabric f;
    f.gpus = 1, f.node_bandwidth = 1e15, f.adapter_bandwidth = 48e9;
    f.kind = c.size[0] != 0 ? network::Fabric::Kind::dragonfly : network::Fabric::Kind::fat_tree;
    f.unit = static_cast<int>(c.size[2]), f.paths = static_cast<int>(c.size[3]);
    f.oversubscription = static_cast<double>(c.size[4]);
    return f;
  }
  network::Flow route(int from, int to, int path) const {
    if (!dragonfly || from / unit == to / unit || path == from / unit || path == to / unit)
      return links.route(from, to, static_cast<std::uint64_t>(path));
    network::Flow first = links.route(from, path * unit, 0);
    const network::Flow second = links.route(path * unit, to, 0);
    first.back() = second[1];  // the detour passes no port of the group in the middle
    first.push_back(second.back());
    return first;
  }
  // Ports come behind the links within nodes, which nothing takes here; from there on links are in the contract's
  // order.
  std::size_t first_port() const { return 2 * static_cast<std::size_t>(units * unit); }
  double capacity(int link) const { return links.capacities()[static_cast<std::size_t>(link)]; }
};

std::vector<Transfer> transfers_of(const Case& c) {
  const int nodes = static_cast<int>(c.size[1] * c.size[2]), unit = static_cast<int>(c.size[2]);
  Draw draw(static_cast<std::uint64_t>(c.size[7]));
  std::vector<Transfer> all;
  std::vector<int> popular;
  for (int i = 0; i < nodes; ++i) popular.push_back(draw.integer(0, 5) == 0 ? 3 : 1);
  auto add = [&](int from, int to, double mega) {
    if (from != to) all.push_back({from, to, static_cast<std::int64_t>(1e6 * mega) + draw.integer(1, 999)});
  };
  for (int from = 0; from < nodes; ++from)
    for (int to = 0; to < nodes; ++to) switch (c.size[5]) {
        case even:
          add(from, to, 4);
          break;
        case uneven:
          add(from, to, popular[static_cast<std::size_t>(to)] * draw.real(0.5, 6));
          break;
        default:
          if (to == (from + unit) % nodes)
            for (int k = 0; k < 12; ++k) add(from, to, draw.real(3, 5));
      }
  // In another order, so that the index of a transfer says nothing.
  for (std::size_t i = all.size(); i > 1; --i)
    std::swap(all[i - 1], all[static_cast<std::size_t>(draw.integer(0, static_cast<int>(i) - 1))]);
  return all;
}

// Seconds that no schedule can beat. Each port and all links of a unit together carry their bytes. In a dragonfly all
// global links together carry theirs, and each byte beyond what a direct link can carry in that time takes two links.
double least_seconds(const Fabric& f, std::span<const Transfer> transfers) {
  const auto nodes = static_cast<std::size_t>(f.units * f.unit), units = static_cast<std::size_t>(f.units);
  std::vector<double> out(nodes, 0), in(nodes, 0), leaves(units, 0), enters(units, 0), between(units * units, 0);
  for (const Transfer& t : transfers) {
    const double bytes = static_cast<double>(t.bytes);
    const std::size_t a = static_cast<std::size_t>(t.from / f.unit), b = static_cast<std::size_t>(t.to / f.unit);
    out[static_cast<std::size_t>(t.from)] += bytes, in[static_cast<std::size_t>(t.to)] += bytes;
    if (a != b) leaves[a] += bytes, enters[b] += bytes, between[a * units + b] += bytes;
  }
  double seconds = 0, all = 0;
  auto take = [&](const std::vector<double>& bytes, double speed) {
    for (const double b : bytes) seconds = std::max(seconds, b / speed);
  };
  const double port = f.links.fabric().adapter_bandwidth,
               unit = f.unit * port / f.links.fabric().oversubscription;  // of a leaf's or a group's links
  take(out, port), take(in, port), take(leaves, unit), take(enters, unit);
  if (!f.dragonfly || f.units < 2) return seconds;
  const double link = unit / (f.units - 1);
  for (const double b : between) all += b;
  auto possible = [&](double s) {
    double passes = 2 * all;
    for (const double b : between) passes -= std::min(b, link * s);
    return passes <= link * s * f.units * (f.units - 1);
  };
  double low = seconds, high = seconds;
  while (!possible(high)) low = high, high *= 2;
  for (int k = 0; k < 50 && low < high; ++k) {
    const double middle = (low + high) / 2;
    (possible(middle) ? high : low) = middle;
  }
  return high;
}

// When the last transfer ends.
double makespan(const Fabric& f, std::span<const Transfer> transfers, std::span<const int> order,
                std::span<const int> path) {
  const std::size_t nodes = static_cast<std::size_t>(f.units * f.unit);
  std::vector<std::vector<std::size_t>> queue(nodes);
  for (std::size_t i = 0; i < transfers.size(); ++i) queue[static_cast<std::size_t>(transfers[i].from)].push_back(i);
  struct Active {
    std::size_t transfer;
    double left;
  };
  std::vector<Active> active;
  auto next = [&](std::size_t node) {
    if (queue[node].empty()) return;
    const std::size_t i = queue[node].back();
    queue[node].pop_back();
    active.push_back({i, static_cast<double>(transfers[i].bytes)});
  };
  for (std::size_t n = 0; n < nodes; ++n) {
    std::stable_sort(queue[n].begin(), queue[n].end(),
                     [&](std::size_t i, std::size_t j) { return order[i] < order[j]; });
    std::reverse(queue[n].begin(), queue[n].end());
    for (int k = 0; k < kAtOnce; ++k) next(n);
  }
  double now = 0;
  while (!active.empty()) {
    std::vector<network::Flow> flows;
    for (const Active& a : active)
      flows.push_back(f.route(transfers[a.transfer].from, transfers[a.transfer].to, path[a.transfer]));
    const std::vector<double> rates = network::fair_rates(f.links.capacities(), flows);
    double step = INFINITY;
    for (std::size_t k = 0; k < active.size(); ++k) step = std::min(step, active[k].left / rates[k]);
    now += step;
    std::vector<Active> going;
    std::vector<std::size_t> ended;
    for (std::size_t k = 0; k < active.size(); ++k) {
      Active a = active[k];
      a.left -= rates[k] * step;
      if (a.left <= 1e-3)  // of a byte
        ended.push_back(static_cast<std::size_t>(transfers[a.transfer].from));
      else
        going.push_back(a);
    }
    active = std::move(going);
    for (const std::size_t n : ended) next(n);
  }
  return now;
}

class Schedule : public TaskCheck {
 public:
  std::string id() const override { return "schedule"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](bool dragonfly, int units, int unit, int paths, int oversubscription, Traffic traffic,
                   std::uint64_t seed) {
      Case c;
      c.size = {dragonfly ? 1 : 0, units,   unit, paths,
                oversubscription,  traffic, 0,    static_cast<std::int64_t>(seed >> 16)};
      c.size[6] = static_cast<std::int64_t>(transfers_of(c).size());
      c.name = fmt::format("{} of {} x {} nodes, {}, {} transfers", dragonfly ? "dragonfly" : "fat tree", units, unit,
                           kTraffic[traffic], c.size[6]);
      if (!dragonfly) c.name += fmt::format(", {} spines", paths);
      if (oversubscription > 1) c.name += fmt::format(", {}:1", oversubscription);
      all.push_back(c);
    };
    // The traffic of `grade` is secret; the networks are those of `check`.
    std::uint64_t i = 0;
    auto seed = [&] { return ++i, r.mode == Mode::grade ? one_way_seed(r.seed, "transfers", i) : i << 20; };
    add(false, 2, 2, 2, 1, even, seed()), add(true, 3, 2, 1, 1, uneven, seed());
    add(false, 4, 4, 4, 1, shifted, seed());  // a hash gives a spine two or three of a leaf's flows
    add(false, 3, 8, 4, 2, even, seed());     // slow uplinks
    add(false, 7, 3, 2, 1, even, seed());     // any order makes receivers wait
    add(true, 7, 4, 1, 1, even, seed());      // a rotation fills one link after the other
    add(true, 7, 5, 1, 2, even, seed());      // and one pass leaves detours where direct links have become free
    add(true, 7, 5, 1, 2, uneven, seed());    // popular receivers, and slow links
    add(true, 6, 4, 1, 1, shifted, seed());   // direct links alone are far too few
    return all;
  }
  Shape shape(const Case& c) const override {
    const auto n = static_cast<std::size_t>(c.size[6]);
    const Fabric f(c);
    return {{sizeof(Network), n * sizeof(Transfer), 4 * n},
            {8 * (f.links.capacities().size() - f.first_port()), 4 * n, 4 * n, 16 * n},
            0};
  }
  bool host_reads_inputs() const override { return true; }
  double bytes_from_host(const Case& c) const override { return 64 * 1024 + 24.0 * static_cast<double>(c.size[6]); }
  // Network, transfers, and paths at random, whose busiest link is asked for.
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const Fabric f(c);
    Network& n = as<Network>(in[0])[0];
    std::memset(&n, 0, sizeof n);
    n.dragonfly = f.dragonfly, n.units = f.units, n.unit = f.unit, n.paths = static_cast<int>(c.size[3]);
    n.port = f.links.fabric().adapter_bandwidth;
    n.link = f.capacity(f.route(0, f.unit, f.dragonfly ? 1 : 0)[1]);
    const std::vector<Transfer> transfers = transfers_of(c);
    std::memset(in[1].data(), 0, in[1].size());
    std::copy(transfers.begin(), transfers.end(), as<Transfer>(in[1]).begin());
    fill_integers(as<std::int32_t>(in[2]), seed, 0, most_paths(c) - 1);
  }
  Work work(const Case& c) const override { return {static_cast<double>(c.size[6]), "transfer", 0, 0}; }

  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const Fabric f(c);
    const auto transfers = as<Transfer>(in[1]);
    const auto given = as<std::int32_t>(in[2]), path = as<std::int32_t>(out[2]);
    const auto taken = as<std::int32_t>(out[3]);
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      network::Flow right = f.route(transfers[i].from, transfers[i].to, given[i]);
      for (auto& link : right) link -= static_cast<std::int32_t>(f.first_port());
      std::sort(right.begin(), right.end());
      right.resize(4, -1);
      if (std::equal(right.begin(), right.end(), &taken[4 * i])) continue;
      return {false,
              fmt::format("links_of, transfer from node {} to node {}, path {}: the links {} are right, got {}",
                          transfers[i].from, transfers[i].to, given[i], names_of(f, right, c),
                          names_of(f, taken.subspan(4 * i, 4), c)),
              "links_of is wrong"};
    }
    const std::vector<double> seconds = busy(f, transfers, given);
    const auto got = as<double>(out[0]);
    for (std::size_t l = 0; l < got.size(); ++l) {
      const double right = seconds[f.first_port() + l];
      if (!(std::fabs(got[l] - right) <= 1e-9 * right))
        return {false,
                fmt::format("busy_seconds, paths at random: the link {} needs {:.9g} s, got {:.9g}", name_of(f, l, c),
                            right, got[l]),
                "busy_seconds is wrong"};
    }
    for (std::size_t i = 0; i < path.size(); ++i)
      if (path[i] < 0 || path[i] >= most_paths(c))
        return {false,
                fmt::format("schedule: transfer {} has the path {}, and there are {}", i, path[i], most_paths(c)),
                "schedule chooses a path that does not exist"};
    return {};
  }
  // Two marks: the busiest link of the chosen paths over the bound, and the end of the last transfer over that link.
  std::vector<Mark> marks(const Case& c, ConstBuffers in, ConstBuffers out, std::span<const Question>) const override {
    const Fabric f(c);
    const auto transfers = as<Transfer>(in[1]);
    if (transfers.size() < kMany) return {};
    const double least = least_seconds(f, transfers);
    const std::vector<double> seconds = busy(f, transfers, as<std::int32_t>(out[2]));
    const auto busiest = std::max_element(seconds.begin(), seconds.end());
    const double full = std::max(least, *busiest);
    const double took = makespan(f, transfers, as<std::int32_t>(out[1]), as<std::int32_t>(out[2]));
    const std::string link = name_of(f, static_cast<std::size_t>(busiest - seconds.begin()) - f.first_port(), c);
    return {{"paths", full / least, "x the bound",
             fmt::format("{}: the busiest link of your paths, {}, needs {:.4g} ms, and {:.4g} ms are the bound", c.name,
                         link, 1e3 * *busiest, 1e3 * least),
             "the paths leave one link busy for long"},
            {"order", took / full, "x the busiest link",
             fmt::format("{}: the last transfer ends after {:.4g} ms, and the busiest link of your paths needs {:.4g} "
                         "ms: links wait for each other",
                         c.name, 1e3 * took, 1e3 * full),
             "the order makes links wait for each other"}};
  }

 private:
  static constexpr std::size_t kMany = 100;  // fewer transfers end too soon for any order
  // Seconds of each link of the library.
  static std::vector<double> busy(const Fabric& f, std::span<const Transfer> transfers,
                                  std::span<const std::int32_t> path) {
    std::vector<double> seconds(f.links.capacities().size(), 0);
    for (std::size_t i = 0; i < transfers.size(); ++i)
      for (const int link : f.route(transfers[i].from, transfers[i].to, path[i]))
        seconds[static_cast<std::size_t>(link)] += static_cast<double>(transfers[i].bytes) / f.capacity(link);
    return seconds;
  }
  static int most_paths(const Case& c) { return static_cast<int>(c.size[0] != 0 ? c.size[1] : c.size[3]); }
  static std::string names_of(const Fabric& f, std::span<const std::int32_t> links, const Case& c) {
    std::string names;
    for (const std::int32_t link : links)
      if (link >= 0) {
        const bool exists = static_cast<std::size_t>(link) < f.links.capacities().size() - f.first_port();
        names += (names.empty() ? "" : ", ") +
                 (exists ? name_of(f, static_cast<std::size_t>(link), c) : fmt::format("{}, which is none", link));
      }
    return names.empty() ? "none" : names;
  }
  // A link by the contract's number.
  static std::string name_of(const Fabric& f, std::size_t link, const Case& c) {
    const int l = static_cast<int>(link), ports = 2 * f.units * f.unit, up = l - ports,
              paths = static_cast<int>(c.size[3]);
    if (l < ports) return fmt::format("{} node {}", l % 2 == 0 ? "out of" : "into", l / 2);
    if (f.dragonfly) return fmt::format("from group {} to group {}", up / f.units, up % f.units);
    const int leaf = up / 2 / paths, spine = up / 2 % paths;
    return up % 2 == 0 ? fmt::format("from leaf {} up to spine {}", leaf, spine)
                       : fmt::format("from spine {} down to leaf {}", spine, leaf);
  }
};

}  // namespace

std::unique_ptr<TaskCheck> schedule() { return std::make_unique<Schedule>(); }

}  // namespace ridge::lab::topology
