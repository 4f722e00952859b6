// Calls of NCCL in a trace of device work (simt/src/stream/device_log.hpp): a judge takes the calls of a rank's host
// code, and lets other processes repeat them.
#pragma once
#include <memory>
#include <vector>

#include "plan.hpp"
#include "stream/operation.hpp"

namespace ridge::collectives {

std::vector<char> record_of(const ncclComm& comm);
std::vector<char> record_of(const ncclComm& comm, const std::vector<Planned>& calls);
// Checks everything: the writer of the record may be hostile.
std::shared_ptr<simt::Exchange> make_recorded(const simt::ExchangeRecord& record);

}  // namespace ridge::collectives
