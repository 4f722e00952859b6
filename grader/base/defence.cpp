#include "grader/base/defence.hpp"

#include <cstddef>

#ifdef RIDGE_DEFENCE_SWITCHES
#include <algorithm>
#include <cstdlib>
#include <set>
#endif

namespace ridge {

namespace {

constexpr const char* kNames[] = {
    "source-files",     "build-sandbox", "build-limits",     "assembly-policy",  "symbol-policy", "scrubbed-messages",
    "worker-sandbox",   "system-calls",  "sealed-code",      "landlock",         "worker-limits", "clean-environment",
    "output-limit",     "time-limit",    "strict-protocol",  "fresh-inputs",     "secret-seeds",  "random-order",
    "poisoned-outputs", "every-output",  "own-inputs",       "explicit-nan",     "tolerance",     "norms",
    "judge-clock",      "unknown-count", "late-writes",      "roofline-floor",   "own-baseline",  "counted-copies",
    "all-ways",         "summed-costs",  "plausible-counts", "constant-limit",   "host-buffers",  "replay",
    "decoy-inputs",     "host-access",   "kernel-entries",   "reordered-inputs", "second-build",  "sanitizer",
    "scrubbed-memory",  "quiet-secrets", "signature"};
static_assert(sizeof kNames / sizeof *kNames == static_cast<std::size_t>(Defence::count_));

}  // namespace

const char* name_of(Defence d) { return kNames[static_cast<int>(d)]; }

#ifdef RIDGE_DEFENCE_SWITCHES
bool on(Defence d) {
  static const std::set<std::string> off = [] {
    std::set<std::string> names;
    const char* text = std::getenv("RIDGE_DEFENCES_OFF");
    std::string all = text != nullptr ? text : "";
    for (std::size_t at = 0; at < all.size();) {
      std::size_t end = std::min(all.find(',', at), all.size());
      names.insert(all.substr(at, end - at));
      at = end + 1;
    }
    return names;
  }();
  return off.count(name_of(d)) == 0;
}
#endif

}  // namespace ridge
