// Calls between ncclGroupStart and ncclGroupEnd, and how they reach the streams.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plan.hpp"

namespace ridge::collectives {

// A call that makes communicators: all of a group begin before the first one waits for the others. Both without the
// lock.
struct Join {
  std::function<ncclResult_t()> begin, end;
};

// Adds a call to the group of this thread, or launches it at once where there is none. With the engine's lock.
ncclResult_t add_call(ncclComm* comm, const Planned& planned, cudaStream_t stream);
// Adds a join; without the lock.
ncclResult_t add_join(Join join);
ncclResult_t start_group();
ncclResult_t end_group();  // called without the lock
bool group_is_open();      // whether any thread has one
// A call was refused, and so is its group.
ncclResult_t refuse(ncclResult_t result);

}  // namespace ridge::collectives
