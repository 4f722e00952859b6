// The judge sends ridge-sandbox-exec a list of records "key value\0" in a memory file. It receives a
// Status, and a second one if exec fails.
#pragma once

namespace ridge::sandbox {

constexpr int kStatusFd = 5;  // ridge-sandbox-exec writes a Status before exec, and another one where exec fails
constexpr int kConfigFd = 6;
constexpr int kArgsFd = 7;   // of bwrap
constexpr int kInfoFd = 8;   // of bwrap
constexpr int kRanksFd = 3;  // the program's socket; of several ranks the judge's, which hands out theirs
constexpr unsigned kNobody = 65534;

enum class Stage : int { ready, config, identity, limits, landlock, system_calls, directory, exec };

// One of several ranks has ended, with the status that waitpid gave.
struct RankEnd {
  int rank, status;
};

struct Status {
  Stage stage;
  int error;  // errno
};

}  // namespace ridge::sandbox
