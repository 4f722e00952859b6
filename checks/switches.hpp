// Parts of the comparison that the test program can switch off, to prove that each of them stops something. In the
// product all are on, as constants.
#pragma once

namespace ridge::lab {

struct Switches {
  bool tolerance = true;     // off: 1% of the terms' magnitude is good enough
  bool norms = true;         // off: only single elements count
  bool explicit_nan = true;  // off: NaN compares as it does in a naive `if (error > limit)`
};

#ifdef RIDGE_DEFENCE_SWITCHES
Switches& switches();
#else
constexpr Switches switches() { return {}; }
#endif

}  // namespace ridge::lab
