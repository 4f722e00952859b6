// What entry.cu plays in `save`, and check/ judges.
#pragma once

constexpr int kSaves = 4;
constexpr long long step_of(int save) { return 4LL * (save + 1); }
// Then one save on each of so many disks, where a call fails or the step is named already; then so many lists of steps.
constexpr int kFaults = 12, kLists = 20;
// Ranks of a list, and steps of each: 4 bits each, 0 where there is none.
constexpr int kListRanks = 3, kListSteps = 5;
// Notes to the judge: a save begins, and has ended (its number); the disk of this number is there from now on; a save begins
// in which a call may fail (its number; the answer is 8 times the number of the step, and the number of the state), and what
// commit returned; a list is wanted, and what agreed_step returned for it.
constexpr long long kSaveBegins = 1, kSaveEnds = 2, kMount = 3, kFault = 4, kFaultEnds = 5, kList = 6, kAgreed = 7;
