// What to try where a gate failed: by its cause, its message, the cases that were right, and the code.
#pragma once
#include <map>
#include <string>

#include "learn/findings/findings.hpp"

namespace ridge::loop {

using Sources = std::map<std::string, std::string>;  // files by name

// `file`: the task's own.
std::string gate_advice(const CheckResult& gate, const TaskResult& task, const Sources& sources,
                        const std::string& file);

// "copy.cu cannot be linked: ...": it compiles, and does not fit together with the other files.
bool not_linked(const CheckResult& c);

}  // namespace ridge::loop
