// What entry.cu plays in `save`, and check/ judges.
#pragma once

constexpr int kSaves = 4;
constexpr long long step_of(int save) { return 4LL * (save + 1); }
// Notes to the judge: a save begins, and has ended (its number); the disk of this number is there from now on.
constexpr long long kSaveBegins = 1, kSaveEnds = 2, kMount = 3;
