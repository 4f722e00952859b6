// Task `save`: disks of the judge's own to load, most of them damaged.
#pragma once
#include <algorithm>
#include <numeric>

#include "save_reader.hpp"

namespace ridge::lab::resilience::saved {

// Disks to load, in an order that the secret draws, and the step that all ranks can load; each has the checkpoints 4, 8
// and 12, or as said.
enum DiskKind {
  kWhole,
  kBit,
  kShort,
  kGone,
  kParts,
  kTornManifest,
  kEmpty,
  kTwo,
  kLong,
  kManifestBit,
  kOtherRanks,
  kThree,
  kDisks
};
constexpr const char* kDiskNames[kDisks] = {
    "both checkpoints are whole",
    "one bit of a part of the newest has changed",
    "a part of the newest is too short",
    "a part of the newest is not there",
    "all parts of a newer step are there, and the manifest does not name it",
    "manifest.new is torn, and the manifest is the old one",
    "there is no manifest, but parts",
    "rank 0 cannot read step 12, the last rank cannot read step 8",
    "a part of the newest is longer than the manifest says",
    "one bit of the manifest has changed",
    "the checkpoints were saved on one rank more",
    "the manifest names three checkpoints, and the newest two are damaged",
};
constexpr int kExpectedSave[kDisks] = {2, 1, 1, 1, 1, 1, -1, -1, 1, -1, -1, 0};

// The kind of the disk that is mounted as number `disk`: who counts its calls does not know it.
inline DiskKind kind_of(const Case& c, int disk) {
  std::vector<int> kinds(kDisks);
  std::iota(kinds.begin(), kinds.end(), 0);
  for (std::size_t i = kDisks; i > 1; --i) std::swap(kinds[i - 1], kinds[one_way_seed(c.secret, "disk", i) % i]);
  return static_cast<DiskKind>(kinds[static_cast<std::size_t>(disk)]);
}

// The disk of this kind.
inline Disk disk_of(const Case& c, DiskKind kind) {
  files::FileSystem made{files::Storage{}};
  made.put_folder(kFolder);
  const int ranks = static_cast<int>(c.size[1]), last = ranks - 1;
  std::vector<Checkpoint> named;
  for (int s = 0; s < 3; ++s) {
    const Bytes state = state_of(c, s, kind);
    named.insert(named.begin(), {step_of(s), parts_of(c, state)});
    for (int r = 0; r < ranks; ++r)
      made.put(part_path(step_of(s), r), Bytes(state.begin() + begin_of(c, r), state.begin() + begin_of(c, r + 1)));
  }
  const std::string all = pack({named[0], named[1]});
  if (kind == kParts || kind == kTornManifest) named.erase(named.begin());
  if (kind != kThree) named.resize(2);
  if (kind == kOtherRanks)
    for (Checkpoint& k : named) k.parts.push_back({});
  std::string manifest = pack(named);
  if (kind == kManifestBit) {
    const auto draw = one_way_seed(c.secret, "manifest");
    manifest[draw % manifest.size()] ^= static_cast<char>(1 << (draw >> 40 & 7));
  }
  if (kind != kEmpty) made.put(kManifest, Bytes(manifest.begin(), manifest.end()));
  if (kind == kTornManifest)
    made.put(kNewManifest, Bytes(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2)));
  const auto flip_a_bit = [&](int save, int rank) {
    const std::string path = part_path(step_of(save), rank);
    made.flip(path, random_bits(c.secret, 9) % made.find(path)->size());
  };
  if (kind == kBit) flip_a_bit(2, last);
  if (kind == kTwo) flip_a_bit(2, 0), flip_a_bit(1, last);
  if (kind == kThree) flip_a_bit(2, 0), flip_a_bit(1, 0);
  if (kind == kLong) {
    Bytes longer = *made.find(part_path(step_of(2), last));
    longer.insert(longer.end(), 9, 'z');
    made.replace(part_path(step_of(2), last), std::move(longer));
  }
  Disk result = made.disk();
  if (kind == kShort || kind == kGone) {
    files::Change change;
    change.kind = kind == kGone ? files::Change::Kind::unlink : files::Change::Kind::truncate;
    change.path = part_path(step_of(2), last);
    change.file = result.find(change.path);
    change.offset = made.find(change.path)->size() / 2;
    result.apply(change);
    result.settle();
  }
  return result;
}

}  // namespace ridge::lab::resilience::saved
