// Plans of slots and runs: whether they are possible, when jobs end, and how long GPUs are kept.
#include "../share.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <map>

#include "common.hpp"

namespace ridge::lab::topology {

namespace {

struct Plan {
  std::vector<Slot> slots;
  std::vector<Run> runs;
};

// Who sends jobs: all sorts of people; a class with notebooks; users of whom nine in ten must be isolated.
enum Mix : std::int64_t { mixed, notebooks, isolated };
constexpr const char* kMix[] = {"mixed", "notebooks", "isolated"};

std::vector<Job> jobs_of(std::uint64_t seed, int count, Mix mix) {
  Draw draw(seed);
  std::vector<Job> jobs;
  for (int i = 0; i < count; ++i) {
    int kind = draw.integer(0, 9);
    if (mix == notebooks) kind = kind < 8 ? 9 : 5;
    if (mix == isolated) kind = kind < 5 ? 1 : 5;
    Job j;
    std::memset(&j, 0, sizeof j);  // the gaps between members, too
    double enough = 7;             // sevenths of the SMs; more make it no faster
    if (kind == 0)                 // training
      j.seconds = draw.real(200, 600), j.memory = draw.real(60, 135), j.bandwidth = draw.real(0.4, 0.8);
    else if (kind < 4)  // fine-tuning
      j.seconds = draw.real(100, 400), j.memory = draw.real(14, 60), j.bandwidth = draw.real(0.15, 0.8),
      enough = draw.real(2, 5);
    else if (kind < 7)  // serving a small model
      j.seconds = draw.real(50, 300), j.memory = draw.real(3, 30), j.bandwidth = draw.real(0.04, 0.3),
      enough = draw.real(0.8, 2.5);
    else  // notebooks
      j.seconds = draw.real(100, 400), j.memory = draw.real(1, 8), j.bandwidth = draw.real(0.005, 0.06),
      enough = draw.real(0.1, 0.9);
    const double bend = draw.real(0.8, 1);
    for (int s = 1; s <= kParts; ++s) j.speed[s] = std::pow(std::min(1.0, s / 4.0 / enough), bend);
    j.deadline = j.seconds * (kind == 0 ? draw.real(1.1, 3) : draw.real(1.5, 9));
    j.isolated = mix == isolated ? draw.integer(0, 9) > 0 : kind < 7 && draw.integer(0, 2) == 0;
    jobs.push_back(j);
  }
  return jobs;
}

double speed(const Job& job, const Slot& s) {
  switch (s.kind) {
    case Kind::whole:
      return 1;
    case Kind::mig: {
      const double memory = kMigProfile[s.profile].memory * 0.125;
      const double alone = job.speed[4 * kMigProfile[s.profile].compute];
      return job.bandwidth * alone > memory ? memory / job.bandwidth : alone;
    }
    default: {
      const double x = s.share * kParts, low = std::floor(std::min(x, kParts - 1.0));
      const std::size_t k = static_cast<std::size_t>(low);
      return job.speed[k] * (1 - (x - low)) + job.speed[k + 1] * (x - low);
    }
  }
}

// Empty where the plan is possible.
std::string impossible(std::span<const Job> jobs, const Plan& plan) {
  const int gpus = static_cast<int>(jobs.size());
  std::vector<double> most(plan.slots.size(), 0);  // memory of the largest job of a slot
  std::map<std::pair<int, int>, std::size_t> order;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Run& r = plan.runs[i];
    if (r.slot < 0 || r.slot >= static_cast<int>(plan.slots.size()))
      return fmt::format("job {} is in slot {}, and there are {}", i, r.slot, plan.slots.size());
    if (const auto [at, added] = order.try_emplace({r.slot, r.order}, i); !added)
      return fmt::format("jobs {} and {} both are number {} of slot {}", at->second, i, r.order, r.slot);
    most[static_cast<std::size_t>(r.slot)] = std::max(most[static_cast<std::size_t>(r.slot)], jobs[i].memory);
    if (jobs[i].isolated && plan.slots[static_cast<std::size_t>(r.slot)].kind == Kind::mps)
      return fmt::format("job {} must be isolated, and is an MPS client", i);
  }
  struct Used {
    Kind kind;
    std::size_t first;
    int compute = 0, slices = 0;
    double share = 0, memory = 0;
  };
  std::map<int, Used> used;
  for (std::size_t k = 0; k < plan.slots.size(); ++k) {
    const Slot& s = plan.slots[k];
    if (s.gpu < 0 || s.gpu >= gpus) return fmt::format("slot {} is on GPU {}, and there are {}", k, s.gpu, gpus);
    if (s.kind != Kind::whole && s.kind != Kind::mig && s.kind != Kind::mps)
      return fmt::format("slot {} has no kind", k);
    const auto [at, added] = used.try_emplace(s.gpu, Used{s.kind, k});
    Used& u = at->second;
    if (u.kind != s.kind || (!added && s.kind == Kind::whole))
      return fmt::format(
          "slots {} and {} are both on GPU {}, whose slots are one whole one, all instances, or all clients", u.first,
          k, s.gpu);
    double room = kMemory;
    if (s.kind == Kind::mig) {
      if (s.profile < 0 || s.profile >= kProfiles) return fmt::format("slot {} has the profile {}", k, s.profile);
      const MigProfile& p = kMigProfile[s.profile];
      if (s.start < 0 || s.start > 7 || (p.starts >> s.start & 1) == 0)
        return fmt::format("slot {}: {} cannot begin at memory slice {}", k, p.name, s.start);
      for (int m = s.start; m < s.start + p.memory; ++m) {
        if ((u.slices >> m & 1) != 0)
          return fmt::format("slot {}: memory slice {} of GPU {} is in two instances", k, m, s.gpu);
        u.slices |= 1 << m;
      }
      if ((u.compute += p.compute) > 7)
        return fmt::format("GPU {} has {} compute slices in use, and 7 in all", s.gpu, u.compute);
      room = p.memory * kMemory / 8;
    } else if (s.kind == Kind::mps) {
      if (!(s.share >= kLeastShare && s.share <= 1))  // far below it, the simulation would not end
        return fmt::format("slot {} has the share {:.4g}, and {} to 1 is possible", k, s.share, kLeastShare);
      u.share += s.share, u.memory += most[k];
      if (u.share > 1 + 1e-9) return fmt::format("the clients of GPU {} have {:.4g} of its SMs", s.gpu, u.share);
      if (u.memory > kMemory * (1 + 1e-9))
        return fmt::format("the clients of GPU {} need {:.4g} GB, and it has {}", s.gpu, u.memory, kMemory);
    }
    if (most[k] > room) {
      const std::string what = s.kind == Kind::mig ? kMigProfile[s.profile].name : "whole GPU";
      return fmt::format("slot {}, a {}, has {:.4g} GB, and one of its jobs needs {:.4g} GB", k, what, room, most[k]);
    }
  }
  return {};
}

// A GPU at a time, from one beginning or end of a job to the next.
std::vector<double> ends_of(std::span<const Job> jobs, const Plan& plan) {
  std::vector<double> end(jobs.size(), 0);
  std::map<int, std::vector<std::size_t>> on;  // slots of each GPU
  for (std::size_t k = 0; k < plan.slots.size(); ++k) on[plan.slots[k].gpu].push_back(k);
  for (const auto& [gpu, slots] : on) {
    std::map<std::size_t, std::map<int, std::size_t>> waiting;  // of each slot, by order
    for (std::size_t i = 0; i < jobs.size(); ++i)
      if (const std::size_t k = static_cast<std::size_t>(plan.runs[i].slot); plan.slots[k].gpu == gpu)
        waiting[k][plan.runs[i].order] = i;
    std::map<std::size_t, double> done;  // of each slot's first job, as a share of its work
    double now = 0;
    while (!waiting.empty()) {
      double demand = 0;
      for (const auto& [k, queue] : waiting) {
        const Job& j = jobs[queue.begin()->second];
        if (plan.slots[k].kind == Kind::mps) demand += j.bandwidth * speed(j, plan.slots[k]);
      }
      const double slower = std::max(1.0, demand);
      double step = INFINITY;
      std::size_t first = 0;
      std::map<std::size_t, double> rate;
      for (const auto& [k, queue] : waiting) {
        const Job& j = jobs[queue.begin()->second];
        rate[k] = speed(j, plan.slots[k]) / slower / j.seconds;
        if (const double t = (1 - done[k]) / rate[k]; t < step) step = t, first = k;
      }
      now += step;
      for (const auto& [k, r] : rate) done[k] += r * step;
      auto& queue = waiting[first];
      end[queue.begin()->second] = now, done[first] = 0;
      queue.erase(queue.begin());
      if (queue.empty()) waiting.erase(first);
    }
  }
  return end;
}

// GPU-seconds that no plan can beat. A job occupies shares of a GPU's compute and of its memory for some time; at any
// time each of the two adds up to 1 at most. Half the sum of both is charged, in the slot that meets the deadline where
// that is least. A client's charge is monotonic between two points of its curve, so the points are enough, and the
// smallest share that meets the deadline.
double least_gpu_seconds(std::span<const Job> jobs) {
  double all = 0;
  for (const Job& j : jobs) {
    double least = j.seconds;
    auto consider = [&](const Slot& s, double compute, double memory) {
      if (const double v = speed(j, s); v > 0 && j.seconds <= j.deadline * v)
        least = std::min(least, (compute + memory) / 2 * j.seconds / v);
    };
    for (int p = 0; p < kProfiles; ++p)
      if (j.memory <= kMigProfile[p].memory * kMemory / 8)
        consider({0, Kind::mig, p, 0, 0}, kMigProfile[p].compute / 7.0, kMigProfile[p].memory / 8.0);
    auto client = [&](double share) { consider({0, Kind::mps, 0, 0, share}, share, j.memory / kMemory); };
    if (!j.isolated) {
      for (int s = 1; s <= kParts; ++s) client(1.0 * s / kParts);
      double low = 0, high = 1;
      for (int k = 0; k < 50; ++k) {
        const double middle = (low + high) / 2;
        (j.seconds <= j.deadline * speed(j, {0, Kind::mps, 0, 0, middle}) ? high : low) = middle;
      }
      client(high);
    }
    all += least;
  }
  return all;
}

// A possible plan at random, in which clients also share more bandwidth than there is.
Plan any_plan(std::span<const Job> jobs, std::uint64_t seed) {
  Draw draw(seed);
  const std::array<std::vector<std::pair<int, int>>, 5> layouts = {
      {{{2, 0}, {2, 2}, {2, 4}, {0, 6}},
       {{3, 0}, {3, 4}},
       {{4, 0}, {3, 4}},
       {{1, 0}, {0, 2}, {0, 3}, {2, 4}, {0, 6}},
       {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {0, 6}}}};
  Plan plan;
  std::vector<std::size_t> left(jobs.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  plan.runs.resize(jobs.size());
  std::vector<int> next;  // order of the next job of each slot
  auto put = [&](std::size_t job, std::size_t slot) { plan.runs[job] = {static_cast<int>(slot), 3 * next[slot]++}; };
  for (int gpu = 0; !left.empty(); ++gpu) {
    std::vector<std::size_t> mine;
    const std::size_t first = plan.slots.size();
    const int kind = draw.integer(0, 2);
    if (kind == 0 || gpu + 1 >= static_cast<int>(jobs.size()) / 2) {
      plan.slots.push_back({gpu, Kind::whole, 0, 0, 0}), next.push_back(0);
      const int take =
          gpu + 1 >= static_cast<int>(jobs.size()) / 2 ? static_cast<int>(left.size()) : draw.integer(1, 3);
      for (int k = 0; k < take && !left.empty(); ++k) put(left.back(), first), left.pop_back();
      continue;
    }
    if (kind == 1) {
      for (const auto& [profile, start] : layouts[static_cast<std::size_t>(draw.integer(0, 4))])
        plan.slots.push_back({gpu, Kind::mig, profile, start, 0}), next.push_back(0);
    } else {
      const int clients = draw.integer(3, 5);
      for (int k = 0; k < clients; ++k)
        plan.slots.push_back({gpu, Kind::mps, 0, 0, draw.real(0.7, 1) / clients}), next.push_back(0);
    }
    // Clients: those first that take most bandwidth, of jobs of which several fit. They share it.
    auto demand = [&](std::size_t job) {
      return jobs[job].memory < 45 ? jobs[job].bandwidth * jobs[job].speed[8] : -1;
    };
    if (kind == 2) std::stable_sort(left.begin(), left.end(), [&](auto a, auto b) { return demand(a) > demand(b); });
    std::vector<double> most(plan.slots.size(), 0);
    double memory = 0;
    for (std::size_t i = 0; i < left.size();) {
      const Job& j = jobs[left[i]];
      const std::size_t slot =
          first + static_cast<std::size_t>(draw.integer(0, static_cast<int>(plan.slots.size() - first) - 1));
      const double more = std::max(0.0, j.memory - most[slot]);
      const bool fits = kind == 1 ? j.memory <= kMigProfile[plan.slots[slot].profile].memory * kMemory / 8
                                  : !j.isolated && memory + more <= kMemory;
      if (!fits || next[slot] >= 3) {
        ++i;
        continue;
      }
      most[slot] += more, memory += more;
      put(left[i], slot), left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return plan;
}

// Sizes of a case: jobs, slots of the plan that is given, seed of both, mix.
class Share : public TaskCheck {
 public:
  std::string id() const override { return "share"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](int jobs, Mix mix, std::uint64_t seed) {
      Case c;
      c.size = {jobs, 0, static_cast<std::int64_t>(seed >> 16), mix};
      c.size[1] = static_cast<std::int64_t>(given(c).slots.size());
      c.name = fmt::format("{} job{}, {}", jobs, jobs == 1 ? "" : "s", kMix[mix]);
      all.push_back(c);
    };
    // The jobs of `grade` are secret; their number and mix are those of `check`.
    std::uint64_t i = 0;
    auto seed = [&] { return ++i, r.mode == Mode::grade ? one_way_seed(r.seed, "jobs", i) : i << 20; };
    add(1, mixed, seed()), add(9, mixed, seed()), add(29, mixed, seed());
    for (const Mix mix : {mixed, notebooks, isolated}) add(kMany, mix, seed());
    return all;
  }
  Shape shape(const Case& c) const override {
    const auto n = static_cast<std::size_t>(c.size[0]), slots = static_cast<std::size_t>(c.size[1]);
    return {{n * sizeof(Job), slots * sizeof(Slot), n * sizeof(Run)}, {8 * n, 4, n * sizeof(Slot), n * sizeof(Run)}, 0};
  }
  bool host_reads_inputs() const override { return true; }
  void fill(const Case& c, std::uint64_t, Buffers in) const override {
    const std::vector<Job> jobs = jobs_of(c);
    const Plan plan = given(c);
    std::memset(in[1].data(), 0, in[1].size());
    std::memcpy(in[0].data(), jobs.data(), in[0].size());
    std::copy(plan.slots.begin(), plan.slots.end(), as<Slot>(in[1]).begin());
    std::copy(plan.runs.begin(), plan.runs.end(), as<Run>(in[2]).begin());
  }
  Work work(const Case& c) const override { return {static_cast<double>(c.size[0]), "job", 0, 0}; }

  Verdict verify(const Case&, ConstBuffers in, ConstBuffers out) const override {
    const auto jobs = as<Job>(in[0]);
    const auto slots = as<Slot>(in[1]);
    const auto runs = as<Run>(in[2]);
    const Plan plan{{slots.begin(), slots.end()}, {runs.begin(), runs.end()}};
    const std::vector<double> right = ends_of(jobs, plan);
    const auto got = as<double>(out[0]);
    for (std::size_t i = 0; i < right.size(); ++i)
      if (!(std::fabs(got[i] - right[i]) <= 1e-6 * right[i])) {
        const Slot& s = plan.slots[static_cast<std::size_t>(runs[i].slot)];
        const std::string where = s.kind == Kind::whole ? "a whole GPU"
                                  : s.kind == Kind::mig ? kMigProfile[s.profile].name
                                                        : fmt::format("a client with {:.3g} of the SMs", s.share);
        return {false,
                fmt::format("finish_times: job {}, which runs on {} with order {}, ends after {:.9g} s, got {:.9g}", i,
                            where, runs[i].order, right[i], got[i]),
                "finish_times is wrong"};
      }
    const int count = as<std::int32_t>(out[1])[0];
    if (count < 1 || count > static_cast<int>(jobs.size()))
      return {false, fmt::format("share: {} slots, and there may be 1 to {}", count, jobs.size()),
              "share returns a number of slots that cannot be"};
    if (const std::string why = impossible(jobs, chosen(out)); !why.empty())
      return {false, fmt::format("share: the plan is impossible: {}", why), "share returns a plan that is impossible"};
    return {};
  }
  std::vector<Mark> marks(const Case& c, ConstBuffers in, ConstBuffers out, std::span<const Question>) const override {
    const auto jobs = as<Job>(in[0]);
    const Plan plan = chosen(out);
    const std::vector<double> end = ends_of(jobs, plan);
    std::map<int, double> kept;
    int late = 0, first = -1;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (end[i] > jobs[i].deadline * (1 + 1e-9)) first = late++ == 0 ? static_cast<int>(i) : first;
      double& last = kept[plan.slots[static_cast<std::size_t>(plan.runs[i].slot)].gpu];
      last = std::max(last, end[i]);
    }
    double sum = 0;
    for (const auto& [gpu, last] : kept) sum += last;
    const double least = least_gpu_seconds(jobs), ratio = sum / least;
    std::string text = fmt::format("{}: {} end late", c.name, late);
    if (late > 0)
      text += fmt::format(", the first of them is job {}: {:.4g} s, and its deadline is {:.4g} s", first,
                          end[static_cast<std::size_t>(first)], jobs[static_cast<std::size_t>(first)].deadline);
    std::vector<Mark> marks = {{"deadlines", static_cast<double>(late) / static_cast<double>(jobs.size()),
                                "of the jobs", text, "jobs end late"}};
    if (jobs.size() >= kMany)
      marks.push_back({kMix[c.size[3]], ratio, "x the bound",
                       fmt::format("{}: {} GPUs are kept for {:.4g} s in all, and {:.4g} s are the bound", c.name,
                                   kept.size(), sum, least),
                       "GPUs are kept long"});
    return marks;
  }

 private:
  static constexpr int kMany = 120;  // fewer jobs cannot fill GPUs
  static std::vector<Job> jobs_of(const Case& c) {
    return topology::jobs_of(static_cast<std::uint64_t>(c.size[2]), static_cast<int>(c.size[0]),
                             static_cast<Mix>(c.size[3]));
  }
  static Plan given(const Case& c) {
    return any_plan(jobs_of(c), random_bits(static_cast<std::uint64_t>(c.size[2]), 1));
  }
  static Plan chosen(ConstBuffers out) {
    const auto slots = as<Slot>(out[2]);
    const auto runs = as<Run>(out[3]);
    return {{slots.begin(), slots.begin() + as<std::int32_t>(out[1])[0]}, {runs.begin(), runs.end()}};
  }
};

}  // namespace

std::unique_ptr<TaskCheck> share() { return std::make_unique<Share>(); }

}  // namespace ridge::lab::topology
