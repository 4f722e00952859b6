#include "grader/judge/explain.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "grader/base/defence.hpp"
#include "grader/compile/compile.hpp"
#include "grader/judge/cuda_errors.hpp"
#include "grader/judge/feedback.hpp"
#include "grader/measure/counters.hpp"

namespace ridge {

namespace {
// A student has not written entry.cu: it calls the task's function and reads what that leaves.
std::string place_in_words(const std::string& file, int line) {
  if (file.empty()) return {};
  return fmt::format("{}{}:{}", file == "entry.cu" ? "the lab's own code around your call, " : "", file, line);
}
}  // namespace

std::string with_lines(std::string text, const fs::path& program) {
  constexpr std::string_view kMark = "[at 0x";
  constexpr std::size_t kLongest = 256;
  for (std::size_t at = 0; (at = text.find(kMark, at)) != std::string::npos;) {
    const std::size_t end = text.find(']', at);
    if (end == std::string::npos || end - at > kLongest) break;
    std::vector<std::uint64_t> offsets;
    const char* c = text.c_str() + at + 3;  // behind "[at"
    for (char* next = nullptr; c < text.c_str() + end; c = next) {
      offsets.push_back(std::strtoull(c, &next, 16));
      if (next == c) break;
    }
    const auto lines = source_lines(program, offsets);
    // The submission's own file, where its call leads into the course's.
    const auto own = std::find_if(lines.begin(), lines.end(), [](const auto& l) {
      return l.first.ends_with(".cu") && l.first != "entry.cu" && l.first != cublas_kernels().filename();
    });
    const auto& line = own == lines.end() ? lines[0] : *own;
    std::string shown = place_in_words(line.first, line.second);
    if (!shown.empty()) shown = fmt::format("({}{})", line == lines[0] ? "" : "by way of ", shown);
    text.replace(at, end + 1 - at, shown);
    at += shown.size();
  }
  return text;
}

namespace {

// Removes the worker's mark " [launched by 1f0 a20]" from `text`, since no message shows it. Returns the innermost of
// its places in a .cu file, as in "mlp.cu:14"; empty if there is none or if it is in the kernel's own file.
std::string launched_at(std::string& text, std::string_view kernel_file, const fs::path& program) {
  constexpr std::string_view kMark = " [launched by ";
  const std::size_t at = text.rfind(kMark);
  if (at == std::string::npos) return {};
  std::vector<std::uint64_t> places;
  const char* c = text.c_str() + at + kMark.size();
  for (char* end = nullptr; places.size() < 8; c = end) {
    const auto place = std::strtoull(c, &end, 16);
    if (end == c) break;
    places.push_back(place);
  }
  text.erase(at);
  for (const auto& [file, line] : source_lines(program, places))
    if (file.ends_with(".cu") && file != cublas_kernels().filename())
      return file == kernel_file ? "" : fmt::format("{}:{}", file, line);
  return {};
}

// The name of the check that the worker's runtime says has failed.
const char* name_of(protocol::Gate gate) {
  switch (gate) {
    case protocol::Gate::correct:
      return "correct";
    case protocol::Gate::memory:
      return "memory";
    case protocol::Gate::launch:
      return "launch";
    case protocol::Gate::mismatch:
      return "mismatch";
    case protocol::Gate::deadlock:
      return "deadlock";
    case protocol::Gate::none:
      break;
  }
  return "run";
}

}  // namespace

constexpr std::uint64_t kMuchMemory = std::uint64_t{2} << 30;  // no case of a lab needs as much

namespace {
Cause cause_of(const Reply& r) {
  switch (r.fate) {
    case Fate::timed_out:
      return r.held > kMuchMemory ? Cause::timeout_memory : Cause::timeout;
    case Fate::crashed:
      return r.signal == 0 ? Cause::ended : Cause::crashed;
    case Fate::reported:
      return ridge::cause_of(r.report.cause);
    case Fate::ok:
      return r.done.status == protocol::Status::cuda_error ? Cause::refused_call : ridge::cause_of(r.done.cause);
    default:
      return Cause::none;
  }
}
}  // namespace

Gate Explainer::operator()(const Reply& r) const {
  Gate g = in_words(r);
  if (!g.check.empty()) g.cause = cause_of(r);
  return g;
}

Gate Explainer::in_words(const Reply& r) const {
  switch (r.fate) {
    case Fate::timed_out:
      if (r.held > kMuchMemory)
        return {"time-limit",
                fmt::format("did not finish within {:g} s and was stopped, with {:.1f} GB of memory in use: "
                            "device memory is this machine's own here, and to fill so much takes long; "
                            "allocate less",
                            limit_, static_cast<double>(r.held) / 1e9)};
      return {"time-limit",
              fmt::format("did not finish within {:g} s and was stopped: look for a loop that never ends, "
                          "a barrier that not every thread reaches, or a thread that waits for a word in memory and "
                          "does not load it through a `volatile` pointer",
                          limit_)};
    case Fate::flooded:
      return {"output", "printed more than 16 MiB and was stopped: remove the prints"};
    case Fate::memory:
      return {"memory-limit", "held more memory than a submission may and was stopped: free what you allocate"};
    case Fate::protocol:
      return {"run", "the program answered with something that is not an answer"};
    case Fate::crashed:
      if (r.signal == 0) return {"run", fmt::format("the program ended by itself with exit code {}", r.exit_code)};
      return {"run",
              fmt::format("crashed: {} (signal {}){}", strsignal(r.signal), r.signal,
                          r.signal == SIGSEGV ? "; look in host code for an index past the end of an array, a null or "
                                                "device pointer that is followed, or a stack overflow"
                                              : "")};
    case Fate::reported:
      return {name_of(r.report.gate), with_lines(r.report.text, program_)};
    case Fate::ok:
      break;
  }
  const auto& d = r.done;
  if (d.status == protocol::Status::fault) {
    std::string where = d.file[0] != 0 ? fmt::format("{}:{}", fs::path(d.file).filename().string(), d.line) : "";
    // A leak has two callers: the inner one may be a header's.
    for (std::uint32_t pc : {d.pc, d.kernel[0] == 0 ? d.other_pc : 0})
      if (where.empty() && pc != 0)
        if (auto line = source_lines(program_, {pc})[0]; !line.first.empty())
          where = fmt::format("{}:{}", line.first, line.second);
    std::string detail = d.detail;
    const std::string launched = launched_at(detail, where.substr(0, where.rfind(':')), program_);
    if (d.kernel[0] == 0 && d.code == 0 && d.pc == 0 && d.other_pc == 0)
      return {name_of(d.gate), fmt::format("{}\n    {}", d.what, with_lines(detail, program_)), d.what};
    if (d.kernel[0] == 0 && d.code == 0)
      return {name_of(d.gate),
              fmt::format("{} at {}\n    {}", d.what, where.empty() ? "an unknown line" : where, detail), d.what};
    std::string against;
    if (d.other_pc != 0) {
      auto line = source_lines(program_, {d.other_pc})[0];
      against = fmt::format("\n    against the {} at {}", d.other,
                            line.first.empty() ? "an unknown line" : fmt::format("{}:{}", line.first, line.second));
    }
    return {name_of(d.gate),
            fmt::format("{} at {}\n    in kernel {}{}, block ({},{},{}), thread ({},{},{}){}: {}", d.what,
                        where.empty() ? "an unknown line" : where, d.kernel,
                        launched.empty() ? "" : ", launched at " + launched, d.block[0], d.block[1], d.block[2],
                        d.thread[0], d.thread[1], d.thread[2], against, detail),
            fault_class(d, where, program_)};
  }
  if (d.status == protocol::Status::cuda_error) {
    const auto error = static_cast<CudaError>(d.code);
    std::string more, detail = d.detail;
    const std::string place = launched_at(detail, "", program_);  // of any call
    if (error == CudaError::invalid_configuration)
      more = "; check the grid and block sizes (at most 1024 threads a block, grid y and z at most 65535)";
    if (error == CudaError::illegal_address) more = "; `ridge check` with --backend cpu names the line";
    return {"launch",
            fmt::format("{}{}: {}{}", d.what, place.empty() ? "" : " at " + place, with_lines(detail, program_), more),
            cuda_error_class(d.code) + more};
  }
  if (d.status == protocol::Status::ok) return {};
  return {"run", fmt::format("{} {}", d.what, d.detail)};
}

bool forgive_slow(std::vector<Reply>& replies) {
  auto slow = [](const Reply& r) { return r.fate == Fate::timed_out && (r.replayed || !on(Defence::replay)); };
  if (std::none_of(replies.begin(), replies.end(), slow)) return false;
  for (Reply& r : replies)
    if (slow(r) || r.follows() || (r.fate == Fate::reported && r.report.gate == protocol::Gate::deadlock)) r = Reply{};
  return true;
}

Gate explain_all(const Explainer& explain, const std::vector<Reply>& replies, int ranks) {
  if (ranks == 0) return explain(replies.front());
  Gate best;
  double first = 0;
  for (std::size_t r = 0; r < replies.size(); ++r) {
    const Reply& reply = replies[r];
    Gate g = explain(reply);
    if (g.check.empty()) continue;
    if (reply.fate != Fate::reported) g.message = fmt::format("rank {} of {}: {}", r, replies.size(), g.message);
    // A fault is the plainest word; what others say may follow from it. Then who was first.
    const double time = reply.seconds + (reply.follows() ? 2e6 : g.check != "memory" ? 1e6 : 0);
    if (best.check.empty() || time < first) best = g, best.rank = static_cast<int>(r), first = time;
  }
  return best;
}

}  // namespace ridge
