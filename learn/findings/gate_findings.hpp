// Explains a failed gate: what it is in a few words, where, and what to try.
#pragma once
#include "learn/findings/gate_advice.hpp"

namespace ridge::loop {

// `sources`: the submission's files by name, which may be empty; they tell whether a barrier stands between two
// accesses. `file`: the task's own.
Finding failed_gate(const CheckResult& gate, const TaskResult& task, const Sources& sources, const std::string& file);

}  // namespace ridge::loop
