// Decides how much a message to a student may reveal. With public inputs (`check`) a message helps as much as it can.
// With secret inputs (`grade`) it names the class of the case, the kind of failure, and for a memory fault the kernel
// and the line. It then holds no value, no seed, and nothing that the submission chose.
#pragma once
#include <string>
#include <string_view>

#include "grader/result/result.hpp"
#include "worker/protocol.hpp"

namespace ridge {

// "rows 257 cols 510" -> "rows * cols *".
std::string case_class(std::string_view name);

// A sentence for a failed check without anything from the run.
std::string failure_class(const std::string& check);

// A fault that the worker reported: its kind, where that is one of the emulator's; kernel, where `program` names one
// like it; `where` as resolved from the program's debug information. The worker's own words are not repeated.
std::string fault_class(const protocol::Done& done, const std::string& where, const fs::path& program);
// The same for a failed CUDA call.
std::string cuda_error_class(int code);

// Every text of the result: printable, without private folders, and at most 64 KiB in all. An official result gives
// nothing back of what the submission printed, since that may be the secret inputs; only its size, rounded up. Nor has
// it a timeline's operations, whose sizes and shapes the submission chose.
void clean_texts(Result& result);

constexpr std::size_t kMaxTextBytes = 64 << 10;

}  // namespace ridge
