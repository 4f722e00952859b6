// Performance of several ranks, a GPU each: as timing.hpp does for one. All ranks get their request at one moment, and
// the clock runs until the last one's answer and sample are there.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "grader/measure/timing.hpp"
#include "grader/worker/rank_workers.hpp"

namespace ridge {

using StartRanks = std::function<std::unique_ptr<RankWorkers>()>;

// `devices`: one for each rank of the case. No process of the submission may run when this is called.
TimedRun time_ranks(const std::vector<Device*>& devices, const lab::TaskCheck& check, const lab::Case& c,
                    const StartRanks& submission, const StartRanks& baseline, std::uint32_t first_id,
                    const TimedOptions& options);

}  // namespace ridge
