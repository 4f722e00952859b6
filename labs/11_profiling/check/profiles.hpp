// Task `diagnose`: profiles with one known cause each, drawn from a seed. Figures are of the size of those recorded on an H200
// (benchmarks/fidelity, benchmarks/h200): launches of 20 to 200 us, steps of 1 to 4 ms.
#pragma once
#include "../profile.hpp"
#include "common.hpp"

namespace ridge::lab::profiling {

using ::Cause;  // not the judge's

struct Known {
  Profile profile{};
  Diagnosis right{};
};

// A kernel whose busiest unit is that of `cause`.
inline Known drawn_kernel(Draw& draw, Cause cause) {
  Known k;
  Profile& p = k.profile;
  const double T = 1e-6 * draw.integer(20, 200);
  constexpr Unit kUnitOf[] = {Unit::memory, Unit::l1, Unit::issue, Unit::atomics, Unit::latency, Unit::memory};
  const Unit busiest =
      cause == Cause::uncoalesced && draw.integer(0, 1) == 0 ? Unit::l2 : kUnitOf[static_cast<int>(cause)];
  for (double& b : p.busy) b = T * draw.real(0.15, 0.7);
  p.busy[static_cast<int>(busiest)] = T;
  p.seconds = T;
  p.occupancy = cause == Cause::few_warps ? draw.integer(4, 24) / 64.0 : draw.integer(16, 64) / 64.0;
  p.lines = kLines;
  for (int i = 0, line = draw.integer(10, 60); i < p.lines; ++i, line += draw.integer(1, 9)) {
    Line& l = p.line[i];
    l.line = line;
    l.requests = 1000 * draw.integer(50, 400);
    l.ideal_sectors = 4 * l.requests;
    l.sectors = l.ideal_sectors * draw.real(1, 1.004);
    l.shared_requests = 1000 * draw.integer(50, 400);
    l.shared_wavefronts = l.shared_requests * draw.real(1, 1.05);
    l.instructions = 1000 * draw.integer(500, 4000);
    l.lanes = draw.real(30, 32);
    l.atomic_requests = 1000 * draw.integer(1, 20);
    l.atomic_turns = l.atomic_requests * draw.real(1, 1.2);
  }
  // Each kernel has something of everything, and only one of them matters.
  std::vector<int> order = {0, 1, 2, 3, 4, 5};
  draw.shuffle(order);
  auto at = [&](int i) -> Line& { return p.line[order[static_cast<std::size_t>(i)]]; };
  const bool wasteful = cause == Cause::uncoalesced;
  // Waste is a tenth of all sectors or more where it is the cause. Where memory is the busiest, it is none otherwise.
  if (wasteful) at(0).requests = 1000 * draw.integer(200, 400), at(0).ideal_sectors = 4 * at(0).requests;
  if (cause != Cause::none) at(0).sectors = at(0).ideal_sectors * (wasteful ? draw.integer(4, 8) : draw.real(1.1, 1.6));
  at(1).shared_wavefronts = at(1).shared_requests * draw.integer(4, 16);
  at(2).lanes = draw.real(3, 12), at(2).instructions *= draw.real(1, 3);
  at(3).atomic_turns = at(3).atomic_requests * draw.integer(16, 32);
  at(4).requests = 1000 * draw.integer(600, 3200), at(4).ideal_sectors = 4 * at(4).requests,
  at(4).sectors = at(4).ideal_sectors;  // the most sectors
  // A rare line with the worst ratio of all, and of no weight.
  at(5).lanes = draw.real(1, 2), at(5).instructions = 2000;
  at(5).shared_requests = 100, at(5).shared_wavefronts = 32 * at(5).shared_requests;
  at(5).atomic_requests = 20, at(5).atomic_turns = 32 * at(5).atomic_requests;
  if (wasteful) at(5).requests = 100, at(5).ideal_sectors = 400, at(5).sectors = 8 * at(5).ideal_sectors;

  double left[kUnits], sectors = 0, l1 = 0, instructions = 0, turns = 0;
  std::copy(p.busy, p.busy + kUnits, left);
  for (const Line& l : p.line)
    sectors += l.sectors, l1 += l.requests + l.shared_wavefronts, instructions += l.instructions,
        turns += l.atomic_turns;
  auto reduce = [&](Unit unit, double by) { left[static_cast<int>(unit)] *= 1 - by; };
  const int which[] = {0, 1, 2, 3, 4, 4};
  const Line& worst = at(which[static_cast<int>(cause)]);
  if (cause == Cause::uncoalesced) {
    reduce(Unit::memory, (worst.sectors - worst.ideal_sectors) / sectors);
    reduce(Unit::l2, (worst.sectors - worst.ideal_sectors) / sectors);
  } else if (cause == Cause::bank_conflicts) {
    reduce(Unit::l1, (worst.shared_wavefronts - worst.shared_requests) / l1);
  } else if (cause == Cause::divergence) {
    reduce(Unit::issue, worst.instructions * (1 - worst.lanes / 32) / instructions);
  } else if (cause == Cause::contention) {
    reduce(Unit::atomics, (worst.atomic_turns - worst.atomic_requests) / turns);
  } else if (cause == Cause::few_warps) {
    reduce(Unit::latency, 1 - p.occupancy);
  }
  k.right = {worst.line, cause, T / *std::max_element(left, left + kUnits)};
  return k;
}

// A timeline of lab 05's form (exposed_copy), of managed memory, or of lab 08's (idle_rank).
inline Known drawn_timeline(Draw& draw, Cause cause) {
  Known k;
  Profile& p = k.profile;
  p.link_bandwidth = 55.2e9;
  p.ranks = cause == Cause::idle_rank ? draw.integer(2, 4) : 1;
  auto add = [&](Activity activity, int rank, int line, double start, double length, double bytes = 0) {
    p.span[p.spans++] = {activity, rank, line, start, start + length, bytes};
    p.seconds = std::max(p.seconds, start + length);
  };
  const int line = draw.integer(20, 40), upload = line, kernel = line + 3, download = line + 5, hidden = line + 9;
  double kernels[4] = {}, in = 0, out = 0, migrated = 0;
  if (cause == Cause::exposed_copy) {
    const double copy = 1e-6 * draw.integer(60, 140), work = copy * draw.real(0.6, 1.4),
                 back = copy * draw.real(0.2, 0.8);
    const bool downloads = draw.integer(0, 1) == 1;  // the way back is the longer one
    double now = 0;
    for (int chunk = draw.integer(5, 8); chunk > 0; --chunk) {
      const double first = downloads ? back : copy, last = downloads ? copy : back;
      add(Activity::copy_to_device, 0, upload, now, first, first * p.link_bandwidth), now += first, in += first;
      add(Activity::kernel, 0, kernel, now, work), kernels[0] += work;
      // Runs beside the kernel and costs nothing.
      add(Activity::copy_to_device, 0, hidden, now + 0.05 * work, 0.9 * work, 0.9 * work * p.link_bandwidth);
      in += 0.9 * work, now += work;
      add(Activity::copy_to_host, 0, download, now, last, last * p.link_bandwidth), now += last, out += last;
    }
    k.right.line = downloads ? download : upload;
  } else if (cause == Cause::migration) {
    const double copy = 1e-6 * draw.integer(20, 40);
    add(Activity::copy_to_device, 0, upload, 0, copy, copy * p.link_bandwidth), in += copy;
    double now = copy;
    for (int launch = draw.integer(4, 6); launch > 0; --launch)
      for (const int at : {kernel, hidden}) {  // the second one touches more that is not there
        const double work = 1e-6 * draw.integer(50, 150),
                     pages = work * (at == hidden ? draw.real(1.5, 3) : draw.real(0.1, 0.5));
        const double bytes = pages * p.link_bandwidth * draw.real(0.2, 0.4);
        add(Activity::kernel, 0, at, now, work + pages);
        add(Activity::migration, 0, at, now + 0.3 * work, pages, bytes);
        kernels[0] += work, migrated += bytes / p.link_bandwidth, now += work + pages;
      }
    const double back = 1e-6 * draw.integer(20, 40);
    add(Activity::copy_to_host, 0, download, now, back, back * p.link_bandwidth), out += back;
    k.right.line = hidden;
  } else {
    const double step = 1e-6 * draw.integer(60, 140);
    const int micro_batches = draw.integer(3, 5);
    for (int rank = 0; rank < p.ranks; ++rank) {
      // Forward arrives one step later on each rank; backward comes back the other way.
      const double work = step * draw.real(0.9, 1), early = step * rank, late = step * (2 * (p.ranks - 1 - rank) + 1);
      double now = 0;
      if (rank > 0) add(Activity::wait, rank, upload, now, early), now += early;
      for (int m = 0; m < micro_batches; ++m, now += work)
        add(Activity::kernel, rank, kernel, now, work), kernels[rank] += work;
      add(Activity::wait, rank, download, now, late), now += late;
      for (int m = 0; m < micro_batches; ++m, now += 2 * work)
        add(Activity::kernel, rank, kernel + 1, now, 2 * work), kernels[rank] += 2 * work;
    }
    add(Activity::copy_to_device, 0, hidden, 0.1 * step, 2 * step, 2 * step * p.link_bandwidth), in += 2 * step;
    double waits[2] = {};
    for (int i = 0; i < p.spans; ++i)
      if (p.span[i].activity == Activity::wait) waits[p.span[i].line == download] += p.span[i].end - p.span[i].start;
    k.right.line = waits[1] > waits[0] ? download : upload;
  }
  k.right.cause = cause;
  k.right.bound = p.seconds / std::max({*std::max_element(kernels, kernels + 4), in, out, migrated});
  return k;
}

// A kernel or a timeline.
inline Known drawn_profile(Draw& draw, Cause cause) {
  return cause < Cause::exposed_copy ? drawn_kernel(draw, cause) : drawn_timeline(draw, cause);
}

}  // namespace ridge::lab::profiling
