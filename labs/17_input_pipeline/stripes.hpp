// Task `stripes`: how a file is spread over storage targets, and what that costs. Host code only: arithmetic.
//
// Byte i of a file is in stripe i / stripe_bytes. Stripe k is on target (first + k mod count) mod targets.
//
// A request for bytes [offset, offset + bytes) occupies each target that has some of them, once: for request_seconds, and
// for its bytes there / bandwidth. Requests that are in flight together share the latency.
#pragma once

constexpr int kMostTargets = 16;

struct System {
  int targets;             // 1 ... kMostTargets
  double bandwidth;        // bytes/s of each target
  double request_seconds;  // of a target, for each request
  double latency;          // s
  double open_seconds;     // of the metadata server, for each open; one after the other, whoever asks
};
struct Striping {
  long long stripe_bytes;
  int count;  // 1 ... targets
  int first;  // 0 ... targets - 1
};

// on_target[t]: how many of the bytes [offset, offset + bytes) are on target t, for all targets. Several stripes of a
// range may be on one target. bytes >= 0
void target_bytes(const System& system, const Striping& striping, long long offset, long long bytes,
                  long long* on_target);

// `readers` ranks read a file together: rank r has bytes [n r / readers, n (r + 1) / readers) of its n = file_bytes, and
// asks for them in requests of request_bytes, the last one shorter. All requests of all ranks are in flight together.
// Returns the seconds until all have come: the busiest target's time, and one latency. Opens are not counted.
double makespan(const System& system, const Striping& striping, long long file_bytes, int readers,
                long long request_bytes);

// The striping and the size of requests with the least makespan. stripe_bytes and request_bytes are powers of two from
// kLeastChoice to kMostChoice, request_bytes <= most_request_bytes. `first` is 0.
constexpr long long kLeastChoice = 256 << 10, kMostChoice = 64 << 20;
struct Choice {
  Striping striping;
  long long request_bytes;
};
Choice choose(const System& system, long long file_bytes, int readers, long long most_request_bytes);

// An epoch of samples of equal size, in a random order. A file, or shard, lies on one target; they are spread evenly, so
// that the busiest target has samples / targets of them, rounded up. A sample is one request, and everything is opened
// once. Opens and requests overlap: the longer of the two counts, and two latencies, one of an open and one of a request.
struct Collection {
  long long samples, sample_bytes;
};
// Seconds if each sample is a file, and with shards of per_shard samples (the last one smaller).
double seconds_of_files(const System& system, const Collection& collection);
double seconds_of_shards(const System& system, const Collection& collection, long long per_shard);
// The fewest samples a shard with which all opens take at most a hundredth of the busiest target's time; all samples in
// one shard where even that takes longer.
long long least_per_shard(const System& system, const Collection& collection);
