// Task `save`: a save in which a call fails, or of a step that is named already.
#pragma once
#include <algorithm>
#include <cerrno>
#include <numeric>
#include <string>
#include <vector>

#include "../save.hpp"
#include "../save_plan.hpp"
#include "checks/check.hpp"
#include "checks/one_way.hpp"
#include "failing.hpp"

namespace ridge::lab::resilience::saved {

// One save on a disk that has the checkpoints 4 and 8. The first kinds have an error that lasts, or one that comes once.
enum FaultKind {
  kNone,
  kPartFull,
  kPartOpen,
  kPartSync,
  kManifestFull,
  kManifestSync,
  kRename,
  kFolderSync,
  kShortWrite,
  kAgain,
  kAgainOther,
  kAgainDamaged
};
constexpr const char* kFaultNames[kFaults] = {
    "no call fails",
    "pwrite of a part says that the storage is full",
    "the open that makes a part says that the storage is full",
    "fsync of a part fails once",
    "pwrite of the manifest says that the storage is full",
    "fsync of the manifest fails once",
    "rename fails",
    "fsync of the folder fails once, after the rename",
    "a pwrite takes only half of its bytes",
    "step 8 is saved again, with the same state",
    "step 8 is saved again, with another state",
    "step 8 is saved again, and a part of it is damaged",
};
// Save and state of the one that is played.
constexpr int save_of(FaultKind kind) { return kind < kAgain ? 2 : 1; }
constexpr int state_of(FaultKind kind) { return kind < kAgain ? 2 : kind == kAgainOther ? 3 : 1; }

inline FaultKind fault_of(const Case& c, int fault) {
  std::vector<int> kinds(kFaults);
  std::iota(kinds.begin(), kinds.end(), 0);
  for (std::size_t i = kFaults; i > 1; --i) std::swap(kinds[i - 1], kinds[one_way_seed(c.secret, "fault", i) % i]);
  return static_cast<FaultKind>(kinds[static_cast<std::size_t>(fault)]);
}

// A fault of the part is one of rank `victim`'s. `disk`: that of the save.
inline Failure failure_of(FaultKind kind, int victim, const files::FileSystem& disk) {
  using How = Failure::How;
  using files::Op;
  const auto part = [victim](const files::Request& r, const std::string& path, const std::string&) {
    return r.rank == victim && !path.empty() && path != kNewManifest && path != kManifest && path != kFolder;
  };
  const auto manifest = [](const files::Request&, const std::string& path, const std::string&) {
    return path == kNewManifest;
  };
  switch (kind) {
    case kPartFull:
      return {How::lasts, Op::write, ENOSPC, part};
    case kPartOpen:
      return {How::lasts, Op::open, ENOSPC, [part](const auto& r, const auto& path, const auto& other) {
                return (r.flags & files::kCreate) != 0 && part(r, path, other);
              }};
    case kPartSync:
      return {How::once, Op::sync, EIO, part};
    case kManifestFull:
      return {How::lasts, Op::write, ENOSPC, manifest};
    case kManifestSync:
      return {How::once, Op::sync, EIO, manifest};
    case kRename:
      return {How::lasts, Op::rename, EIO,
              [](const auto&, const auto&, const std::string& to) { return to == kManifest; }};
    case kFolderSync:
      return {How::once, Op::sync, EIO, [&disk](const auto&, const std::string& path, const auto&) {
                const bool renamed =
                    std::any_of(disk.changes().begin(), disk.changes().end(), [](const files::Change& c) {
                      return c.kind == files::Change::Kind::rename && c.other == kManifest;
                    });
                return path == kFolder && renamed;
              }};
    case kShortWrite:
      return {How::shortens, Op::write, 0, part};
    default:
      return {};
  }
}

}  // namespace ridge::lab::resilience::saved
