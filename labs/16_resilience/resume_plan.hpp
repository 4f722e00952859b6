// What entry.cu plays in `resume`, and check/ judges.
#pragma once

// Two runs, each killed at a step of its own and resumed.
constexpr int kRuns = 2;
constexpr const char* kRunPaths[kRuns] = {"ckpt/run-0", "ckpt/run-1"};
// Behind the resumed runs a file is loaded so many times; each time it is damaged, or missing, or whole.
constexpr int kLoads = 8;
// Notes to the judge: the node crashes, and the runs' files change places or not; run 0's file is made ready for the
// next load.
constexpr long long kCrash = 1, kReady = 2;
