#include "learn/findings/gate_findings.hpp"

#include <map>

namespace ridge::loop {

namespace {

// A failed gate in a few words.
std::string gate_headline(const CheckResult& c) {
  if (not_linked(c)) return "it cannot be linked";
  static const std::map<std::string, const char*> known = {
      {"build", "it does not compile"},
      {"run", "it does not run to its end"},
      {"memory", "it uses memory wrongly"},
      {"time-limit", "it does not end in time"},
      {"traffic", "messages are not those that the task asks for"},
      {"deadlock", "ranks wait for each other"},
      {"launch", "a call was refused"},
      {"mismatch", "ranks do not make the same calls"},
      {"device", "the host does what belongs to the device"},
      {"agree", "ranks have different answers"},
      {"in-flight", "too much is kept at a time"},
      {"questions", "it asks what it may not"},
      {"bubble", "ranks are idle longer than they must be"},
  };
  if (c.cause == Cause::kernel_launch) return "a kernel launches a kernel";
  if (c.cause == Cause::request_leak) return "it does not wait for its messages";
  if (c.cause == Cause::inactive_lane || c.cause == Cause::warp_mask) return "lanes of a warp miss each other";
  if (c.cause == Cause::memory_leak || c.cause == Cause::handle_leak) return "what it makes is never freed";
  if (c.cause == Cause::barrier_deadlock || c.cause == Cause::divergent_barrier)
    return "threads miss each other at a barrier";
  const auto at = known.find(c.name);
  return at == known.end() ? "the answer is wrong" : at->second;
}

}  // namespace

Finding failed_gate(const CheckResult& c, const TaskResult& t, const Sources& sources, const std::string& file) {
  Finding f;
  const std::string line = c.message.substr(0, c.message.find('\n'));
  f.what = c.passed ? "" : c.name == "build" ? gate_headline(c) : c.message;
  // The place in "... at gather.cu:11".
  if (auto at = line.rfind(" at "); at != std::string::npos && line.find(".cu:", at) != std::string::npos)
    f.where = line.substr(at + 4);
  f.gate = gate_headline(c);
  f.why = gate_advice(c, t, sources, file);
  return f;
}

}  // namespace ridge::loop
