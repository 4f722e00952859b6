// What entry.cu plays in `resume`, and check/ judges.
#pragma once

// Two runs, each saved halfway to a step of its own, and again at that step, where it is killed and resumed.
constexpr int kRuns = 2, kSavesOfRun = 2;
constexpr const char* kRunPaths[kRuns] = {"ckpt/run-0", "ckpt/run-1"};
// After the resumed runs a file is loaded so many times; each time it is damaged, or missing, or whole. Then it is saved so many
// times while a call fails, and loaded again.
constexpr int kLoads = 11, kFailures = 6;
// Notes to the judge: a run was saved (what save_trainer returned); the node crashes, and the runs' files change places or not;
// run 0's file is made ready for the next load; a call of the next save fails; what that save returned.
constexpr long long kSaved = 1, kCrash = 2, kReady = 3, kCallFails = 4, kHasFailed = 5;
