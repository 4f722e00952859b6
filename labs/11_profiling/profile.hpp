// Task `diagnose`: profiles, as Nsight Compute and Nsight Systems show them, and what is to be found in them.
#pragma once

// --- A kernel: one launch, its units and its source lines ---

// The units work side by side. So the launch takes as long as the busiest one, `seconds`.
enum class Unit : int { memory, l2, l1, issue, atomics, latency };
constexpr int kUnits = 6;

// What a source line does in the whole launch.
struct Line {
  int line;
  // Global memory: requests of warps, their sectors, and the sectors that the same bytes would need side by side.
  double requests, sectors, ideal_sectors;
  double shared_requests, shared_wavefronts;  // without bank conflicts a request is one wavefront
  double instructions;                        // of warps
  double lanes;                               // active lanes of these, 32 at most, on average
  double atomic_requests, atomic_turns;       // lanes at one address take turns; added up in the warp first: one turn
};

// --- A timeline: what runs when ---

enum class Activity : int { kernel, copy_to_device, copy_to_host, migration, wait };

struct Span {
  Activity activity;
  int rank;           // of several processes; 0 where there is one
  int line;           // of the call or launch in the program
  double start, end;  // seconds
  double bytes;       // of copies and migrations
};

constexpr int kLines = 6, kSpans = 64;

// A kernel has lines, a timeline has spans.
struct Profile {
  double seconds;  // of the launch, or to the end of the last span
  int lines;
  Line line[kLines];
  double busy[kUnits];  // seconds that each unit needs alone
  double occupancy;     // resident warps / 64
  int spans, ranks;
  Span span[kSpans];      // a rank's kernels and waits follow each other; copies may run beside them
  double link_bandwidth;  // B/s between host and device, each way, for copies that overlap
};

// What costs most. The first six are of kernels:
//   uncoalesced     a line wastes 5% of all sectors or more (sectors - ideal ones), and memory or L2 is the busiest unit
//   bank_conflicts  a line's wavefronts are more than its requests to shared memory, and L1 is the busiest
//   divergence      a line's instructions have few active lanes, and issue is the busiest
//   contention      lanes' atomics meet at one address, and atomics are the busiest
//   few_warps       latency is the busiest: with more warps more would be in flight
//   none            memory is the busiest, and moves only what it must
// and three of timelines:
//   exposed_copy    copies run while no kernel does
//   migration       kernels wait for pages of managed memory
//   idle_rank       a rank waits for another one
enum class Cause : int {
  uncoalesced,
  bank_conflicts,
  divergence,
  contention,
  few_warps,
  none,
  exposed_copy,
  migration,
  idle_rank
};

// The line: of a kernel the one that the cause is worst at (few_warps: with the most requests; none: with the most
// sectors), of a timeline that of the spans that cost most (exposed copies, migrations, waits; idle_rank: the waits).
//
// The bound: how many times as fast it can become at most, if the cause is gone and nothing else changes.
//   kernel    seconds / the busiest unit that is then left. Without the cause at that line:
//             memory and l2 are proportional to the sectors of all lines; l1 to requests + shared wavefronts; issue to
//             instructions, those at the line with all 32 lanes active; atomics to turns, one for each request at the
//             line; latency to 1 / occupancy, which becomes 1. `none`: 1
//   timeline  seconds / the longest of: each rank's kernels without their migrations, the copies to the device, those
//             to the host, and all migrated bytes at link_bandwidth
struct Diagnosis {
  int line;
  Cause cause;
  double bound;
};

// Fills all[0] to all[count - 1]. On the host.
void diagnose(const Profile* profiles, int count, Diagnosis* all);
