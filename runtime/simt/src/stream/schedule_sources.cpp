// Copies out of page-locked memory of the program: which read the same bytes, and whether the host has waited for an
// earlier one of them. Until then the host must not fill that memory again.
#include <algorithm>
#include <utility>

#include "device/memory.hpp"
#include "stream/schedule.hpp"

namespace ridge::simt {

std::map<std::uint64_t, ScheduleBuilder::Sent> ScheduleBuilder::sent() const {
  Ranges of_caller;  // whose buffers hold the same data for the whole call
  DeviceMemory::instance().for_mapped([&](const Allocation& a) {
    if (a.end > a.begin) of_caller.add(a.begin, a.end);
  });
  std::map<std::uint64_t, Sent> found;
  std::vector<const Ranges*> copies;           // what each has read, in the order of issue
  std::vector<std::uint64_t> sources;          // of each
  using Ended = std::vector<bool>;             // a bit for each copy
  std::map<std::uint64_t, Ended> ended_after;  // copies that have ended when an operation has
  Ended host;                                  // and those for which the host has waited
  auto add = [&](Ended& to, std::uint64_t number) {
    const auto at = ended_after.find(number);
    if (at == ended_after.end()) return;
    to.resize(std::max(to.size(), at->second.size()));
    for (std::size_t i = 0; i < at->second.size(); ++i)
      if (at->second[i]) to[i] = true;
  };
  for (const Step& s : steps_) {
    if (s.fields.is_wait != 0) {
      for (const std::uint64_t n : s.waits) add(host, n);
      continue;
    }
    if (s.fields.number == 0) continue;
    const std::uint64_t number = s.fields.number - 1;
    Ended ended = host;
    for (const std::uint64_t n : s.waits) add(ended, n);
    const auto at = ran_.find(number);
    const Operation* op = at == ran_.end() ? nullptr : &at->second.operation;
    if (op != nullptr && op->work.kind == WorkKind::copy && op->work.path == CopyPath::host_to_device &&
        !op->work.pageable && op->footprint != nullptr && op->footprint->read.common(of_caller) == 0 &&
        copies.size() < Schedule::kMaxItems) {
      Sent& sent = found[number];
      for (std::size_t i = 0; i < copies.size(); ++i) {
        if (copies[i]->common(op->footprint->read) == 0) continue;
        if (sent.source == 0) sent.source = sources[i];
        sent.unwaited = sent.unwaited || i >= host.size() || !host[i];
      }
      if (sent.source == 0) sent.source = sources.empty() ? 1 : *std::max_element(sources.begin(), sources.end()) + 1;
      ended.resize(copies.size() + 1);
      ended.back() = true;
      copies.push_back(&op->footprint->read);
      sources.push_back(sent.source);
    }
    ended_after[number] = std::move(ended);
  }
  return found;
}

}  // namespace ridge::simt
