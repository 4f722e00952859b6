#include "grader/judge/explain.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "grader/build/compile.hpp"
#include "grader/judge/feedback.hpp"
#include "grader/measure/counters.hpp"

namespace ridge {

std::string with_lines(std::string text, const fs::path& program) {
  constexpr std::string_view kMark = "[at 0x";
  for (std::size_t at = 0; (at = text.find(kMark, at)) != std::string::npos;) {
    const std::size_t end = text.find(']', at);
    if (end == std::string::npos || end - at > 32) break;
    const auto offset = std::strtoull(text.c_str() + at + kMark.size(), nullptr, 16);
    const auto line = source_lines(program, {offset})[0];
    const std::string shown = line.first.empty() ? "" : fmt::format("({}:{})", line.first, line.second);
    text.replace(at, end + 1 - at, shown);
    at += shown.size();
  }
  return text;
}

namespace {

// Takes " [launched by 1f0 a20]" out of `text`: "mlp.cu:14", the innermost place in a .cu file; empty where there is
// none, or where it is the kernel's own file.
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

// The gate that a report of the emulated NCCL or MPI belongs to: that of the first of these words in it.
template <class Says>
const char* gate_of(const Says& says) {
  constexpr std::pair<const char*, const char*> kWords[] = {
      {"disagree", "mismatch"},      {"has room for", "mismatch"},      {"out of bounds", "memory"},
      {"buffers overlap", "memory"}, {"device memory: ", "memory"},     {"was changed before", "memory"},
      {"deadlock: ", "deadlock"},    {"no rank has moved", "deadlock"}, {" is gone", "deadlock"},
      {" waits for ", "deadlock"},   {"does not come", "deadlock"},     {"another rank has reported why", "deadlock"}};
  for (auto [words, gate] : kWords)
    if (says(words)) return gate;
  return "launch";  // a call that was refused
}

}  // namespace

Gate Explainer::operator()(const Reply& r) const {
  switch (r.fate) {
    case Fate::timed_out:
      return {"time-limit",
              fmt::format("did not finish within {:g} s and was stopped: look for a loop that never ends, "
                          "or a barrier that not every thread reaches",
                          limit_)};
    case Fate::flooded:
      return {"output", "printed more than 16 MiB and was stopped: remove the prints"};
    case Fate::memory:
      return {"memory-limit", "held more memory than a submission may and was stopped: free what you allocate"};
    case Fate::protocol:
      return {"run", "the program answered with something that is not an answer"};
    case Fate::crashed:
      if (r.signal == 0) return {"run", fmt::format("the program ended by itself with exit code {}", r.exit_code)};
      return {"run", fmt::format("crashed: {} (signal {}){}", strsignal(r.signal), r.signal,
                                 r.signal == SIGSEGV
                                     ? "; on the host side: an access past the end of an array, through a null "
                                       "pointer or one to device memory, or a stack too deep"
                                     : "")};
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
    if (d.kernel[0] == 0 && d.code == 0 && d.pc == 0 && d.other_pc == 0)
      return {std::string_view(d.what).starts_with("leak") ? "memory" : "correct",
              fmt::format("{}\n    {}", d.what, with_lines(d.detail, program_)), d.what};
    if (d.kernel[0] == 0 && d.code == 0)
      return {"memory", fmt::format("{} at {}\n    {}", d.what, where.empty() ? "an unknown line" : where, d.detail),
              d.what};
    std::string against;
    if (d.other_pc != 0) {
      auto line = source_lines(program_, {d.other_pc})[0];
      against = fmt::format("\n    against the {} at {}", d.other,
                            line.first.empty() ? "an unknown line" : fmt::format("{}:{}", line.first, line.second));
    }
    std::string detail = d.detail;
    const std::string launched = launched_at(detail, where.substr(0, where.rfind(':')), program_);
    return {d.code == 0 ? "correct" : "memory",
            fmt::format("{} at {}\n    in kernel {}{}, block ({},{},{}), thread ({},{},{}){}: {}", d.what,
                        where.empty() ? "an unknown line" : where, d.kernel,
                        launched.empty() ? "" : ", launched at " + launched, d.block[0], d.block[1], d.block[2],
                        d.thread[0], d.thread[1], d.thread[2], against, detail),
            fault_class(d, where, program_)};
  }
  if (d.status == protocol::Status::cuda_error) {
    std::string more, detail = d.detail;
    const std::string place = launched_at(detail, "", program_);  // of any call
    if (d.code == 9)
      more = "; check the grid and block sizes (at most 1024 threads a block, grid y and z at most 65535)";
    if (d.code == 700) more = "; `ridge check` with --backend cpu names the line";
    return {"launch",
            fmt::format("{}{}: {}{}", d.what, place.empty() ? "" : " at " + place, with_lines(detail, program_), more),
            cuda_error_class(d.code) + more};
  }
  if (d.status == protocol::Status::ok) return {};
  return {"run", fmt::format("{} {}", d.what, d.detail)};
}

Gate explain_ranks(const Explainer& explain, const std::vector<Reply>& replies, RankWorkers& workers,
                   const fs::path& program) {
  Gate best;
  double first = 0;
  for (std::size_t r = 0; r < replies.size(); ++r) {
    Gate g = explain(replies[r]);
    if (g.check.empty()) continue;
    bool cause = true;
    const std::string said = replies[r].fate == Fate::crashed ? workers.report(static_cast<int>(r)) : "";
    const std::size_t at = std::min(said.find("ridge: NCCL: "), said.find("ridge: MPI: "));
    auto says = [&](const char* words) { return said.find(words, at) != std::string::npos; };
    if (at == std::string::npos) {
      g.message = fmt::format("rank {} of {}: {}", r, replies.size(), g.message);
    } else {
      g = {gate_of(says), with_lines(said.substr(at, 4096), program)};
      cause = !says(" is gone, and ") && !says("another rank has reported why");
    }
    if (replies[r].with_others) cause = false;
    // A fault is the plainest word; what others say may follow from it. Then who was first.
    const double time = replies[r].seconds + (!cause ? 2e6 : g.check != "memory" ? 1e6 : 0);
    if (best.check.empty() || time < first) best = g, first = time;
  }
  return best;
}

}  // namespace ridge
