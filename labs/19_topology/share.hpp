// Task `share`: jobs on whole GPUs, on slices of Multi-Instance GPU (MIG), and as clients of the Multi-Process Service
// (MPS), in virtual time. On the host.
#pragma once

// All jobs may begin at time 0.
struct Job {
  double seconds;    // alone on a whole GPU
  double deadline;   // when it must have ended
  double memory;     // GB
  double bandwidth;  // share of a GPU's memory bandwidth that it takes alone on one, 0 to 1
  double speed[8];   // with s sevenths of the SMs, over that with all: speed[0] is 0, speed[7] is 1
  bool isolated;     // may not share a GPU's memory and its faults with other programs: no MPS
};

constexpr double kMemory = 141;  // GB of a GPU, in 8 memory slices; its SMs are 7 compute slices
// Shapes of an H200's instances. An instance at `start` has the memory slices start to start + memory - 1.
struct MigProfile {
  const char* name;
  int compute, memory;  // slices
  int starts;           // bit s: it may begin at memory slice s
};
constexpr int kProfiles = 6;
constexpr MigProfile kMigProfile[kProfiles] = {{"1g.18gb", 1, 1, 0x7f}, {"1g.35gb", 1, 2, 0x55},
                                               {"2g.35gb", 2, 2, 0x15}, {"3g.71gb", 3, 4, 0x11},
                                               {"4g.71gb", 4, 4, 0x01}, {"7g.141gb", 7, 8, 0x01}};

// A place for one job at a time. A GPU has slots of one kind: one whole slot; or instances whose memory slices do not
// overlap and whose compute slices are 7 at most; or MPS clients whose shares add up to at most 1, with a sum of at
// most kMemory of the largest job of each.
enum class Kind { whole, mig, mps };
struct Slot {
  int gpu;
  Kind kind;
  int profile, start;  // of an instance; 0 else
  double share;        // of a client: of the SMs, above 0; 0 else
};
// A job runs in a slot, behind all jobs there with a lower order. Its memory must fit: kMemory in a whole slot,
// `memory` eighths of it in an instance.
struct Run {
  int slot, order;
};

// When each job ends. A slot begins its next job when the one before ends, without a pause. Speeds over a whole GPU:
//   whole     1
//   instance  speed[compute], and at most (memory / 8) / bandwidth: it has that part of the memory's bandwidth
//   client    v = speed at 7 share, linear between the given points. Bandwidth is shared: where the sum of bandwidth
//             times v of all clients that run on the GPU is above 1, all of them run at v over that sum. Whenever a
//             job begins or ends, these speeds change
// The plan is possible; jobs have distinct orders within a slot. end: seconds of each job.
void finish_times(const Job* jobs, int count, const Slot* slots, int slot_count, const Run* run, double* end);

// Writes slots, at most one a job, and each job's run, and returns the number of slots. There are `count` GPUs,
// numbered from 0. All jobs must end before their deadlines; then the GPUs should be given back early: the sum over
// all GPUs of the time at which the last job there ends is to be small.
int share(const Job* jobs, int count, Slot* slots, Run* run);
