#include "grader/machine/link_rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

#include "grader/base/statistics.hpp"

namespace ridge {

namespace {

constexpr double kOfMedian = 0.8;
// A healthy link reaches 0.8 and more of what its lanes carry; half of the lanes at most 0.45.
constexpr double kOfLanes = 0.6;
constexpr const char* kHost = "host";

int index_of(const Topology& t, const std::string& address) {
  for (std::size_t i = 0; i < t.gpus.size(); ++i)
    if (t.gpus[i].pci.address == address) return static_cast<int>(i);
  return -1;
}

std::string name_of(const Topology& t, const std::string& end) {
  if (end == kHost) return end;
  const int i = index_of(t, end);
  return i < 0 ? "GPU at " + end : fmt::format("GPU {}", i);
}

std::string link_name(const Topology& t, const LinkRate& r) { return name_of(t, r.from) + " to " + name_of(t, r.to); }

// Links that should be equally fast: of one direction to the host, or between GPUs that are joined alike.
std::string kind_of(const Topology& t, const LinkRate& r) {
  if (r.from == kHost) return "host to GPU";
  if (r.to == kHost) return "GPU to host";
  const int a = index_of(t, r.from), b = index_of(t, r.to);
  return "GPU to GPU" +
         (a < 0 || b < 0 ? "" : " " + gpu_relation(t, static_cast<std::size_t>(a), static_cast<std::size_t>(b)));
}

// The highest rate of a GPU's PCI Express link; 0 if it is unknown, or if there is no such link.
double lanes_of(const Topology& t, const LinkRate& r) {
  if (r.from != kHost && r.to != kHost) return 0;
  const int i = index_of(t, r.from == kHost ? r.to : r.from);
  if (i < 0) return 0;
  PciLink link = t.gpus[static_cast<std::size_t>(i)].pci.link;
  link.speed = link.max_speed;
  link.width = link.max_width;
  return bytes_per_second(link);
}

}  // namespace

LinkRun parse_link_run(const std::string& printed, bool complete) {
  LinkRun run;
  bool ended = false;
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind, from, to, value;
    words >> kind >> from >> to;
    std::getline(words >> std::ws, value);
    if (kind == "begin") {
      run.hung = from + " " + to;
    } else if (kind == "rate") {
      run.rates.push_back({from, to, std::atof(value.c_str()), ""});
      run.hung.clear();
    } else if (kind == "failed") {
      run.rates.push_back({from, to, 0, value});
      run.hung.clear();
    } else if (kind == "left") {
      run.left = std::atoi(from.c_str());
      ended = true;
    } else if (kind == "none") {
      run.skipped = line.substr(5);
    }
  }
  if (!ended && run.skipped.empty() && run.rates.empty() && run.hung.empty())
    run.problem = complete ? "the measurement crashed" : "the driver did not answer in time";
  if (!ended && complete && !run.hung.empty()) {
    const auto space = run.hung.find(' ');
    run.rates.push_back({run.hung.substr(0, space), run.hung.substr(space + 1), 0, "the measurement crashed"});
    run.hung.clear();
  }
  return run;
}

Facts link_facts(const LinkRun& run, const Topology& t) {
  Facts facts;
  const std::string what = "links of the GPUs";
  if (!run.skipped.empty()) return {{Mark::none, what, "skipped: " + run.skipped}};
  if (!run.problem.empty()) return {{Mark::no, what, run.problem + "; look at nvidia-smi and `dmesg`"}};
  std::map<std::string, std::vector<const LinkRate*>> kinds;
  for (const LinkRate& r : run.rates) {
    if (r.problem.empty())
      kinds[kind_of(t, r)].push_back(&r);
    else
      facts.push_back({Mark::no, link_name(t, r), "failed: " + r.problem + "; look at nvidia-smi and `dmesg`"});
  }
  for (const auto& [kind, rates] : kinds) {
    std::vector<double> values;
    for (const LinkRate* r : rates) values.push_back(r->bytes_per_s);
    const double middle = median(values);
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    facts.push_back({Mark::yes, kind,
                     rates.size() == 1 ? fmt::format("{:.1f} GB/s (one link: none to compare it with)", middle / 1e9)
                                       : fmt::format("{:.1f} to {:.1f} GB/s, median {:.1f}, {} links", *low / 1e9,
                                                     *high / 1e9, middle / 1e9, rates.size())});
    for (const LinkRate* r : rates) {
      const double lanes = lanes_of(t, *r);
      std::string below;
      if (r->bytes_per_s < kOfMedian * middle)
        below = fmt::format("{:.2f} of the median", r->bytes_per_s / middle);
      else if (r->bytes_per_s < kOfLanes * lanes)
        below = fmt::format("{:.2f} of the {:.1f} GB/s that its PCIe lanes carry", r->bytes_per_s / lanes, lanes / 1e9);
      if (below.empty()) continue;
      facts.push_back(
          {Mark::no, link_name(t, *r),
           fmt::format("suspect: {:.1f} GB/s, {}; measure again on a quiet machine, then compare the link's "
                       "speed and width above and look at `dmesg`",
                       r->bytes_per_s / 1e9, below)});
    }
  }
  if (!run.hung.empty()) {
    const auto space = run.hung.find(' ');
    const LinkRate hung{run.hung.substr(0, space), run.hung.substr(space + 1), 0, ""};
    facts.push_back({Mark::no, link_name(t, hung), "suspect: its copies did not end in time; look at `dmesg`"});
  }
  if (run.left > 0) facts.push_back({Mark::note, "not measured", fmt::format("{} links, for lack of time", run.left)});
  return facts;
}

}  // namespace ridge
