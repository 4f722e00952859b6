// What entry.cu plays in `reshard`, and check/ judges.
#pragma once

// Grids that load, as tensor and data parts.
constexpr int kTargets[][2] = {{2, 2}, {1, 3}, {1, 1}, {2, 4}, {3, 1}};
// A note to the judge: a rank of a grid that loads begins. It finds a checkpoint of its own, with other values.
constexpr long long kNextRank = 1;
