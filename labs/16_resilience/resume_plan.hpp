// What entry.cu plays in `resume`, and check/ judges.
#pragma once

// Two runs, each killed at a step of its own and resumed.
constexpr int kRuns = 2;
constexpr const char* kRunPaths[kRuns] = {"ckpt/run-0", "ckpt/run-1"};
// Notes to the judge: the node crashes, and the runs' files change places or not; a bit of run 0's file changes; the
// file is not there.
constexpr long long kCrash = 1, kDamage = 2, kRemove = 3;
