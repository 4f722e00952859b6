// Task `save`: a checkpoint in parts that is there as a whole, or not at all. Host code only.
//
// All ranks have the same `bytes` bytes of state, as with data parallelism. Rank r of R writes the bytes
// [bytes r / R, bytes (r + 1) / R) into a file of its own. A manifest names the checkpoints that count, at most two of
// them. It is replaced by rename, so that it is the old one or the new one at every moment.
//
// A crash of the node may come between any two calls and inside each. What was written and not synced is then there, or
// not, or in part; fsync of a file makes its bytes durable, fsync of the folder its names.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "files/files.hpp"

constexpr const char* kFolder = "ckpt";
constexpr const char* kManifest = "ckpt/manifest";
constexpr const char* kNewManifest = "ckpt/manifest.new";
constexpr int kKept = 2;  // checkpoints

inline std::string part_path(long long step, int rank) {
  char name[64];
  std::snprintf(name, sizeof name, "ckpt/step-%08lld.part-%03d", step, rank);
  return name;
}
inline long long part_begin(long long bytes, int rank, int ranks) { return bytes * rank / ranks; }

// FNV-1a with 64 bits (Fowler, Noll, Vo).
inline std::uint64_t hash_of(const void* data, std::size_t bytes) {
  const auto* p = static_cast<const unsigned char*>(data);
  std::uint64_t h = 14695981039346656037ull;
  for (std::size_t i = 0; i < bytes; ++i) h = (h ^ p[i]) * 1099511628211ull;
  return h;
}

struct Part {
  std::int64_t bytes = 0;
  std::uint64_t hash = 0;
};
struct Checkpoint {
  long long step = 0;
  std::vector<Part> parts;  // of each rank
};

// A manifest's bytes: the hash of all that follows; how many checkpoints; of each, the one committed last first, step, number
// of parts, and the parts. All numbers have 8 bytes.
inline std::string pack(const std::vector<Checkpoint>& checkpoints) {
  std::string out(8, '\0');
  const auto put = [&](const void* p) { out.append(static_cast<const char*>(p), 8); };
  const auto number = [&](std::int64_t n) { put(&n); };
  number(static_cast<std::int64_t>(checkpoints.size()));
  for (const Checkpoint& c : checkpoints) {
    number(c.step), number(static_cast<std::int64_t>(c.parts.size()));
    for (const Part& p : c.parts) put(&p.bytes), put(&p.hash);
  }
  const std::uint64_t hash = hash_of(out.data() + 8, out.size() - 8);
  std::memcpy(out.data(), &hash, 8);
  return out;
}
// False where the bytes are no whole manifest.
inline bool unpack(const std::string& bytes, std::vector<Checkpoint>& checkpoints) {
  checkpoints.clear();
  std::size_t at = 0;
  bool good = true;
  const auto next = [&](void* to) {
    good = good && at + 8 <= bytes.size();
    if (good) std::memcpy(to, bytes.data() + at, 8);
    at += 8;
  };
  std::uint64_t hash = 0;
  std::int64_t count = 0;
  next(&hash), next(&count);
  if (!good || hash != hash_of(bytes.data() + 8, bytes.size() - 8)) return false;
  for (std::int64_t i = 0; good && i < count; ++i) {
    Checkpoint c;
    std::int64_t step = 0, parts = 0;
    next(&step), next(&parts);
    c.step = step;
    for (std::int64_t p = 0; good && p < parts; ++p)
      c.parts.emplace_back(), next(&c.parts.back().bytes), next(&c.parts.back().hash);
    checkpoints.push_back(std::move(c));
  }
  return good && at == bytes.size();
}

// ---- Saving. Files of an earlier run that crashed may be there under the same names: they count for nothing. Any call may
// fail: a full storage (-ENOSPC), a device that cannot write (-EIO), or a pwrite that takes only the first of the bytes. What
// fsync could not write once may be lost, whatever a second fsync says.

// What write_part returns where the part is not durable.
constexpr Part kFailed{-1, 0};

// On every rank, at the same time: writes the rank's part of `state`, with one request where the storage takes it whole, makes
// it durable, and returns what the manifest will say of it; or kFailed.
//   A step that the manifest names is not written over: a signal before the time limit may come right after a save of
//   the same step. If the named part has the length and the hash of this one, and its file is whole, it is returned as it
//   is. If its file is damaged, it is written again. A named part with another hash is kept: kFailed.
Part write_part(const char* state, long long bytes, long long step, int rank, int ranks);

// On rank 0, after a barrier: parts[r] is what write_part returned on rank r. True: the manifest names this checkpoint and
// the one before it, and no crash changes that; the parts of those that it names no more are removed. False: a part is
// kFailed, or a call failed; the checkpoints of before are still there. The manifest is written as kNewManifest.
//   A checkpoint may be removed once no crash can bring back a manifest that names it.
bool commit(long long step, const std::vector<Part>& parts);

// ---- Loading, on every rank, after a crash or without one.

// Reads the rank's part of the checkpoint of `step` into `to`, which has room for `room` bytes. True if the manifest
// names the checkpoint, with `ranks` parts, and the part has the length and the hash that the manifest says.
bool read_part(long long step, int rank, int ranks, char* to, long long room);

// The steps for which read_part returns true on this rank, in the order of the manifest: the newest is the one committed
// last.
std::vector<long long> whole_steps(int rank, int ranks);

// whole[r]: what whole_steps returned on rank r. The newest step that all ranks can load, or -1. Every rank computes it,
// and all must come to the same.
long long agreed_step(const std::vector<std::vector<long long>>& whole);
