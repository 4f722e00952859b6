// Lab 19, task `share`: jobs on whole GPUs, MIG slices and MPS clients.
//
// Run: ./ridge check 19 --task share
#include <algorithm>
#include <vector>

#include "share.hpp"

namespace {

// Over a whole GPU; of a client as long as the bandwidth lasts.
[[maybe_unused]] double speed_in(const Job& job, const Slot& slot) {
  if (slot.kind == Kind::whole) return 1;
  if (slot.kind == Kind::mig) {
    const MigProfile& p = kMigProfile[slot.profile];
    return std::min(job.speed[kParts / 7 * p.compute], job.bandwidth > 0 ? p.memory / 8.0 / job.bandwidth : 1.0);
  }
  const double at = kParts * slot.share;
  const int s = std::min(kParts - 1, static_cast<int>(at));
  return job.speed[s] + (at - s) * (job.speed[s + 1] - job.speed[s]);
}

// What is known of a GPU and of its slots while jobs are placed.
struct Gpu {
  Kind kind;
  double end = 0;                               // when its last job so far ends
  int compute = 0, taken = 0;                   // slices; bits of memory slices
  double share = 0, memory = 0, bandwidth = 0;  // of its clients
};
// A slot, and the jobs in it so far: the largest memory and bandwidth of any.
struct Filled {
  Slot slot;
  double end = 0, memory = 0, bandwidth = 0;
  int jobs = 0;
};

// GB that a job in it can have.
[[maybe_unused]] double memory_of(const Slot& slot) {
  return slot.kind == Kind::mig ? kMemory / 8 * kMigProfile[slot.profile].memory : kMemory;
}

// The share of a GPU that a slot takes from others.
[[maybe_unused]] double area(const Slot& slot, double memory) {
  if (slot.kind == Kind::whole) return 1;
  if (slot.kind == Kind::mps) return std::max(slot.share, memory / kMemory);
  return std::max(kMigProfile[slot.profile].compute / 7.0, kMigProfile[slot.profile].memory / 8.0);
}

// Whether the GPU can have one more slot, for a job with so much memory and bandwidth.
[[maybe_unused]] bool has_room(const Gpu& g, const Slot& s, double memory, double bandwidth) {
  if (g.kind != s.kind || s.kind == Kind::whole) return false;
  if (s.kind == Kind::mps)
    return g.share + s.share <= 1 + 1e-12 && g.memory + memory <= kMemory && g.bandwidth + bandwidth <= 1;
  const MigProfile& p = kMigProfile[s.profile];
  return g.compute + p.compute <= 7 && (g.taken & (((1 << p.memory) - 1) << s.start)) == 0;
}

// Every slot that a GPU can have, without its number.
[[maybe_unused]] std::vector<Slot> all_shapes() {
  std::vector<Slot> shapes = {{0, Kind::whole, 0, 0, 0}};
  for (int p = 0; p < kProfiles; ++p)
    for (int start = 0; start < 7; ++start)
      if ((kMigProfile[p].starts >> start & 1) != 0) shapes.push_back({0, Kind::mig, p, start, 0});
  for (const int parts : {1, 2, 3, 4, 6, 8, 10, 12, 14}) shapes.push_back({0, Kind::mps, 0, 0, 1.0 * parts / kParts});
  return shapes;
}

}  // namespace

// TASK(share)
#include <cmath>
#include <numeric>

void finish_times(const Job* jobs, int count, const Slot* slots, int slot_count, const Run* run, double* end) {
  std::vector<std::vector<int>> queue(static_cast<std::size_t>(slot_count));  // the next job last
  std::vector<int> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  std::sort(all.begin(), all.end(), [&](int i, int j) { return run[i].order > run[j].order; });
  std::vector<double> left(static_cast<std::size_t>(count));
  for (const int i : all) {
    queue[static_cast<std::size_t>(run[i].slot)].push_back(i);
    left[static_cast<std::size_t>(i)] = jobs[i].seconds;
  }
  for (double now = 0;;) {
    std::vector<double> demand(static_cast<std::size_t>(count), 0);  // of each GPU with clients
    for (int s = 0; s < slot_count; ++s)
      if (const auto& q = queue[static_cast<std::size_t>(s)]; !q.empty() && slots[s].kind == Kind::mps)
        demand[static_cast<std::size_t>(slots[s].gpu)] += jobs[q.back()].bandwidth * speed_in(jobs[q.back()], slots[s]);
    auto speed = [&](int s, int i) {
      const double v = speed_in(jobs[i], slots[s]);
      return slots[s].kind == Kind::mps ? v / std::max(1.0, demand[static_cast<std::size_t>(slots[s].gpu)]) : v;
    };
    double step = INFINITY;
    int ends = -1;
    for (int s = 0; s < slot_count; ++s)
      if (const auto& q = queue[static_cast<std::size_t>(s)]; !q.empty())
        if (const double t = left[static_cast<std::size_t>(q.back())] / speed(s, q.back()); t < step)
          step = t, ends = s;
    if (ends < 0) return;
    for (int s = 0; s < slot_count; ++s)
      if (const auto& q = queue[static_cast<std::size_t>(s)]; !q.empty())
        left[static_cast<std::size_t>(q.back())] -= step * speed(s, q.back());
    now += step;
    auto& q = queue[static_cast<std::size_t>(ends)];
    end[q.back()] = now;
    q.pop_back();
  }
}

int share(const Job* jobs, int count, Slot* slots, Run* run) {
  std::vector<int> by_time(static_cast<std::size_t>(count));
  std::iota(by_time.begin(), by_time.end(), 0);
  std::sort(by_time.begin(), by_time.end(), [&](int i, int j) { return jobs[i].seconds > jobs[j].seconds; });
  const std::vector<Slot> shapes = all_shapes();
  std::vector<Gpu> gpus;
  std::vector<Filled> filled;
  for (const int i : by_time) {
    const Job& job = jobs[i];
    // The cheapest way: seconds by which a GPU is kept longer; for a new slot at least the part of a GPU that it takes.
    double least = INFINITY;
    int behind = -1, gpu = -1;
    Slot chosen{};
    auto consider = [&](double cost, int slot, int g, const Slot& shape) {
      if (cost < least) least = cost, behind = slot, gpu = g, chosen = shape;
    };
    auto usable = [&](const Slot& s) { return job.memory <= memory_of(s) && !(job.isolated && s.kind == Kind::mps); };
    for (std::size_t f = 0; f < filled.size(); ++f) {
      const Filled& at = filled[f];
      const Gpu& g = gpus[static_cast<std::size_t>(at.slot.gpu)];
      const double v = speed_in(job, at.slot), ends = at.end + job.seconds / v;
      if (!usable(at.slot) || ends > job.deadline) continue;
      if (at.slot.kind == Kind::mps && (g.memory + std::max(0.0, job.memory - at.memory) > kMemory ||
                                        g.bandwidth + std::max(0.0, job.bandwidth * v - at.bandwidth) > 1))
        continue;
      consider(std::max(0.0, ends - g.end), static_cast<int>(f), at.slot.gpu, at.slot);
    }
    for (const Slot& s : shapes) {
      const double v = speed_in(job, s), seconds = job.seconds / v;
      if (!usable(s) || seconds > job.deadline) continue;
      const double part = area(s, job.memory) * seconds;
      for (std::size_t g = 0; g < gpus.size(); ++g)
        if (has_room(gpus[g], s, job.memory, job.bandwidth * v))
          consider(std::max(0.0, seconds - gpus[g].end) + 0.5 * part, -1, static_cast<int>(g), s);
      consider(part, -1, -1, s);
    }
    if (gpu < 0) gpu = static_cast<int>(gpus.size()), gpus.push_back({chosen.kind});
    Gpu& g = gpus[static_cast<std::size_t>(gpu)];
    if (behind < 0) {
      behind = static_cast<int>(filled.size());
      chosen.gpu = gpu;
      filled.push_back({chosen});
      if (chosen.kind == Kind::mig) {
        g.compute += kMigProfile[chosen.profile].compute;
        g.taken |= ((1 << kMigProfile[chosen.profile].memory) - 1) << chosen.start;
      }
      g.share += chosen.share;
    }
    Filled& at = filled[static_cast<std::size_t>(behind)];
    const double v = speed_in(job, at.slot);
    if (at.slot.kind == Kind::mps) {
      g.memory += std::max(0.0, job.memory - at.memory), at.memory = std::max(at.memory, job.memory);
      g.bandwidth += std::max(0.0, job.bandwidth * v - at.bandwidth),
          at.bandwidth = std::max(at.bandwidth, job.bandwidth * v);
    }
    at.end += job.seconds / v, g.end = std::max(g.end, at.end);
    run[i] = {behind, at.jobs++};
  }
  for (std::size_t f = 0; f < filled.size(); ++f) slots[f] = filled[f].slot;
  return static_cast<int>(filled.size());
}
// END(share)
