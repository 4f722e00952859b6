// Task `shards`: samples in few large files, and who takes which sample when. Host code only.
//
// Files (all numbers little-endian, as the host has them):
//   data/NNNNN.shard  records, one after another from byte 0 on. A record is a RecordHead and the sample's bytes.
//   data/index        an IndexEntry for each sample, in the order of the samples.
// Samples are written in their order. A record goes into the current shard if the shard has at most `shard_bytes` bytes
// with it, or none without it; else the next shard begins. Each file is synced and closed, and the index is begun when
// all shards are: whoever finds an index finds what it names.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "files/files.hpp"

struct RecordHead {
  std::uint32_t bytes;     // of the sample
  std::uint32_t checksum;  // of the sample
};
struct IndexEntry {
  std::int64_t offset;  // of the record in its shard
  std::int32_t shard;
  std::int32_t bytes;  // of the sample
};
static_assert(sizeof(RecordHead) == 8 && sizeof(IndexEntry) == 16);

inline std::string shard_path(int shard) {
  char name[32];
  std::snprintf(name, sizeof name, "data/%05d.shard", shard);
  return name;
}
constexpr const char* kIndexPath = "data/index";

// FNV-1a (Fowler, Noll, Vo).
inline std::uint32_t checksum(const unsigned char* bytes, std::size_t n) {
  std::uint32_t h = 2166136261u;
  for (std::size_t i = 0; i < n; ++i) h = (h ^ bytes[i]) * 16777619u;
  return h;
}

// A number in [0, n): draw number `i` of the stream that `seed` and `stream` name (splitmix64).
inline std::uint64_t random_below(std::uint64_t seed, std::uint64_t stream, std::uint64_t i, std::uint64_t n) {
  std::uint64_t z = seed * 0xd1342543de82ef95u + stream * 0xaf251af3b0f025b5u + (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (z ^ (z >> 31)) % n;
}

// Sample i has the bytes [begin[i], begin[i + 1]).
struct Samples {
  const unsigned char* bytes;
  const long long* begin;
  long long count;
};

// Writes shards and index into the folder "data", which is there and empty. shard_bytes <= 64 MiB. Returns the number
// of shards. Every write costs a call, however few bytes it has: write each file with one.
int write_shards(const Samples& samples, long long shard_bytes);

// What a rank has open, for as long as it trains.
struct Shards {
  std::vector<IndexEntry> index;
  std::vector<int> fd;  // of each shard
};
bool open_shards(Shards& shards);
// Reads sample number `sample` into `to`, which has room for kMostSample bytes and a head. Returns its bytes, which begin
// at to + sizeof(RecordHead), or -1 where head and sample do not fit the index and the checksum.
// Each call reads its record from the shard: nothing is kept between calls.
constexpr long long kMostSample = 65536;
long long read_sample(const Shards& shards, long long sample, unsigned char* to);

// The order of an epoch: a random permutation of 0 ... samples - 1, another one for each seed and each epoch. The same
// seed and epoch give the same order in every process.
void epoch_order(std::uint64_t seed, long long epoch, std::vector<long long>& order);

// Where training is, in two numbers: a checkpoint keeps them. All ranks have the same ones.
struct Cursor {
  long long epoch = 0;
  long long position = 0;  // samples of this epoch that have been taken, by all ranks together
};
struct Epochs {
  std::uint64_t seed;
  long long samples;
  int batch;  // samples of a step, of all ranks together
};
// The next step's samples of rank `rank` out of `ranks`, and the cursor after them. A step takes the next `batch`
// samples of the epoch's order, or those that are left: n of them. Rank r has numbers [n r / ranks, n (r + 1) / ranks)
// of these n, in their order. Behind the last sample the next epoch begins.
void next_batch(const Epochs& epochs, Cursor& cursor, int rank, int ranks, std::vector<long long>& mine);
