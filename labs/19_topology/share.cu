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
void finish_times(const Job* jobs, int count, const Slot* slots, int slot_count, const Run* run, double* end) {
  // TODO: this is right for one job a slot, on whole GPUs.
  (void)slots, (void)slot_count, (void)run;
  for (int i = 0; i < count; ++i) end[i] = jobs[i].seconds;
}

int share(const Job* jobs, int count, Slot* slots, Run* run) {
  // TODO: a whole GPU for each job. Which jobs need less?
  (void)jobs;
  for (int i = 0; i < count; ++i) {
    slots[i] = {i, Kind::whole, 0, 0, 0};
    run[i] = {i, 0};
  }
  return count;
}
// END(share)
