// The lines that doctor prints: one per fact, each with a remedy where something is wrong.
#pragma once
#include <string>
#include <vector>

namespace ridge {

enum class Mark {
  yes,
  no,    // wrong or missing: the detail says what to do
  note,  // works, but worth knowing before a measurement is believed
  none,  // nothing here to look at: the detail says why
};

struct Fact {
  Mark mark = Mark::yes;
  std::string what, detail;
};
using Facts = std::vector<Fact>;

}  // namespace ridge
