// Task `share`: jobs on whole GPUs, on slices of Multi-Instance GPU (MIG), and as clients of the Multi-Process Service
// (MPS), in virtual time. On the host.
#pragma once

constexpr int kParts = 28;  // of a GPU's SMs, in a job's curve: 4 for a compute slice
// All jobs may begin at time 0.
struct Job {
  double seconds;            // alone on a whole GPU
  double deadline;           // when it must have ended
  double memory;             // GB
  double bandwidth;          // share of a GPU's memory bandwidth that it takes at full speed, 0 to 1
  double speed[kParts + 1];  // with s parts of the SMs, over that with all: speed[0] is 0, speed[kParts] is 1
  bool isolated;             // must not share bandwidth and faults with other programs: it cannot be an MPS client
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

constexpr double kLeastShare = 0.01;
// A slot runs one job at a time. All slots of a GPU are of one kind: one whole slot; or instances whose memory slices do
// not overlap and whose compute slices are 7 at most; or MPS clients whose shares add up to at most 1. Add the memory of
// the largest job of each client: the sum is at most kMemory.
enum class Kind { whole, mig, mps };
struct Slot {
  int gpu;
  Kind kind;
  int profile, start;  // of an instance; otherwise 0
  double share;        // a client's share of the SMs, kLeastShare to 1; otherwise 0
};
// A job runs in a slot, after all jobs there with a lower order. Its memory must fit: kMemory in a whole slot,
// `memory` eighths of it in an instance.
struct Run {
  int slot, order;
};

// When each job ends. A slot begins its next job when the one before ends, without a pause. Speeds over a whole GPU:
//   whole     1
//   instance  speed[4 compute], and at most (memory / 8) / bandwidth: the instance has memory / 8 of the bandwidth
//   client    v = speed at kParts times share, linear between the points of the curve. Clients share the bandwidth: let
//             d be the sum of bandwidth times v over all clients that run on the GPU. Where d is above 1, each of them
//             runs at v / d. These speeds change whenever a job on the GPU begins or ends
// The plan is possible; jobs have distinct orders within a slot. end: seconds of each job.
void finish_times(const Job* jobs, int count, const Slot* slots, int slot_count, const Run* run, double* end);

// Writes slots, at most `count`, and each job's run, and returns the number of slots. There are `count` GPUs, numbered
// from 0, and up to 120 jobs. All jobs must end by their deadlines. Of such plans the one with the least GPU time is the
// best: the sum over all GPUs of the time at which the last job there ends.
int share(const Job* jobs, int count, Slot* slots, Run* run);
