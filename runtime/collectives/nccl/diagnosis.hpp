// Reports of ranks that wait for each other in vain, and of calls that do not match.
#pragma once
#include <string>
#include <vector>

#include "communicator.hpp"

namespace ridge::collectives {

// Whether a judge or the sanitizer looks for mistakes: they hear of behaviour that NCCL leaves undefined.
bool looks_for_mistakes();

// Called while all ranks of this process wait, or are elsewhere. Ends the program (exit code 86) with a report once
// nothing has moved in any process of the communicators for RIDGE_NCCL_TIMEOUT seconds (10; 0: never), or as soon as it
// is certain that nothing will.
void look_for_deadlock(double seconds);

// Two ranks have not made the same call, or not with the same count. Ends the program.
[[noreturn]] void end_with_mismatch(const ncclComm& comm, const Call& own, const Message& theirs);

// " [at 0x12f0]". The reporter replaces it by a line, since the look-up takes a while.
std::string place_of(std::uint64_t pc);

// A call reads or writes past the end of an allocation. Ends the program.
[[noreturn]] void end_with_overrun(const ncclComm& comm, const Call& call, const std::string& what);

// The output of a call overlaps its input, and not as in place. Ends the program.
[[noreturn]] void end_with_overlap(const ncclComm& comm, const Call& call, Cause why, const std::string& what);

// Another process asks for the state of this one's ranks, tells its own, or ends after a report. With the engine's
// lock.
void heard_state(std::uint64_t process, std::uint64_t key, std::uint32_t step, const std::vector<char>& data);

}  // namespace ridge::collectives
