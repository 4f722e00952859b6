// Where the ranks of this process are on a communicator, in words and as data. All with the engine's lock.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "advice.hpp"

namespace ridge::collectives {

// Whether they wait for sends and receives only.
bool in_messages(std::uint64_t key);

// A line for each. `messages`: others wait for their sends and receives.
std::string local_states(std::uint64_t key, bool messages);

std::vector<Waiting> waiting_of(std::uint64_t key);

}  // namespace ridge::collectives
