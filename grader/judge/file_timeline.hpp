// Whether virtual time shows the file requests that the judge has answered. Their times are in the trace, which comes
// from the submission's process.
#pragma once
#include <span>
#include <string>

#include "checks/files.hpp"
#include "grader/measure/counters.hpp"
#include "runtime/files/service.hpp"

namespace ridge {

// What differs, in words; empty where nothing does. Each part of each request must be there, on its resource and for as
// long as the judge has said; a resource serves one part at a time, in the order of the requests; and a request begins
// after the end of all that its caller had waited for when it came. `charged`: of one process.
std::string difference_of_files(std::span<const files::Charged> charged, std::span<const PlacedPart> placed);

// The first request that begins before the kernels have ended that make what it publishes, in words; empty: none.
std::string too_early(std::span<const lab::UsesFiles::AfterKernels> requests, std::span<const PlacedPart> placed,
                      const Timeline& timeline);

}  // namespace ridge
