// What to try where ranks wait for each other in vain: chosen by the calls that wait.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "message.hpp"

namespace ridge::collectives {

// A call on a communicator that waits, or a rank of it that is in none. Processes send these to each other.
struct Waiting {
  std::int32_t rank = 0;
  bool waits = false;     // else the rank is in no call,
  bool idle = false;      // and then: all that it has called has ended
  bool in_group = false;  // the call stands between ncclGroupStart and ncclGroupEnd
  Call call = {};
};

extern const char* const kAdviceMpi;
extern const char* const kAdviceNccl;             // of collectives
extern const char* const kAdviceOneCommunicator;  // a send and its receive are on two communicators

// Of sends and receives.
std::string message_advice(const std::vector<Waiting>& all);

}  // namespace ridge::collectives
