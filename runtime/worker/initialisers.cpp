#include "initialisers.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

// An entry of the section ridge_init, as the annotator writes it.
struct Initialiser {
  std::uint64_t priority;
  void (*function)(int, char**, char**);
};

}  // namespace

// The linker's bounds of the section. Weak: null where nothing has initialisers.
extern "C" {
[[gnu::weak]] extern const Initialiser __start_ridge_init[];
[[gnu::weak]] extern const Initialiser __stop_ridge_init[];
}

namespace ridge::worker {

void run_initialisers() {
  std::vector<Initialiser> all(__start_ridge_init, __stop_ridge_init);
  std::stable_sort(all.begin(), all.end(),
                   [](const Initialiser& a, const Initialiser& b) { return a.priority < b.priority; });
  char* nothing[] = {nullptr};  // the loader gives main's arguments and the environment: not to a submission
  for (const Initialiser& i : all) i.function(0, nothing, nothing);
}

}  // namespace ridge::worker
