#include "diagnosis.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string_view>

#include "../judged.hpp"
#include "device/fault.hpp"
#include "device/source_lines.hpp"
#include "exchange.hpp"
#include "node.hpp"
#include "sanitize/sanitizer.hpp"
#include "states.hpp"

namespace ridge::collectives {

namespace {

constexpr double kAsk = 0.5;  // seconds between questions to other processes
// A process that runs a kernel does not answer; what it said before counts no longer.
constexpr double kFresh = 3 * kAsk;
// All ranks wait, and nothing has moved for so long: nothing will.
constexpr double kCertain = 1;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Time for which nothing may move while a rank's host is elsewhere; 0: for ever.
double patience() {
  static const double seconds = [] {
    const char* text = std::getenv("RIDGE_NCCL_TIMEOUT");
    return text != nullptr ? std::atof(text) : Node::instance().judged() ? 5.0 : 10.0;
  }();
  return seconds;
}

// The state of another process, as it has told it.
struct State {
  std::uint64_t activity = 0;
  bool blocked = false;
  std::map<std::uint64_t, Node::Traffic> traffic;  // with the other processes
  double since = 0;                                // time at which its activity last changed
  double heard = 0;                                // time of its last answer
  std::vector<Waiting> waiting;                    // its ranks of the communicator
  std::string text;
};

struct StateHeader {
  std::uint64_t activity;
  std::uint32_t blocked, processes, waiting;  // then their numbers and traffic, and the Waiting
};
struct TrafficWith {
  std::uint64_t process;
  Node::Traffic traffic;
};

std::map<std::pair<std::uint64_t, std::uint64_t>, State>& states() {  // keyed by communicator and process
  static auto* all = new std::map<std::pair<std::uint64_t, std::uint64_t>, State>;
  return *all;
}

// " [at 0x12f0]" -> " (ring.cu:51)": all ranks run the same program. A judged one can't look it up: its judge does.
std::string with_lines(std::string text) {
  if (Node::instance().judged()) return text;
  constexpr std::string_view kMark = " [at 0x";
  struct Found {
    std::size_t at, end;
    std::uint32_t pc;
  };
  std::vector<Found> all;
  std::vector<std::uint32_t> pcs;
  for (std::size_t at = 0; (at = text.find(kMark, at)) != std::string::npos; ++at) {
    const std::size_t end = text.find(']', at);
    if (end == std::string::npos) break;
    all.push_back({at, end + 1, static_cast<std::uint32_t>(std::strtoull(&text[at + kMark.size()], nullptr, 16))});
    pcs.push_back(all.back().pc);
  }
  const auto lines = simt::source_lines(pcs);
  for (auto f = all.rbegin(); f != all.rend(); ++f) {
    auto line = lines.find(f->pc);
    text.replace(f->at, f->end - f->at,
                 line == lines.end() ? "" : " (" + line->second.file + ":" + std::to_string(line->second.line) + ")");
  }
  return text;
}

// Steps of messages of kind `state`. Who asks tells what it waits for: the answer depends on it where a rank is in no
// call.
constexpr std::uint32_t kQuestion = 0, kAnswer = 1, kEnd = 2, kQuestionOfMessages = 3;

// The other processes of the communicator end too, without a report of their own.
[[noreturn]] void end_with(const ncclComm& comm, Cause why, const std::string& report, bool follows = false) {
  std::set<std::uint64_t> others(comm.processes.begin(), comm.processes.end());
  others.erase(Node::instance().token());
  for (std::uint64_t p : others) Node::instance().write(p, comm.key, 0, {{0, Kind::state, 0, kEnd}, {}, {}});
  ridge_end_rank(why, follows, "\n" + with_lines(report));
}

void ask_others(const ncclComm& comm) {
  std::set<std::uint64_t> others(comm.processes.begin(), comm.processes.end());
  others.erase(Node::instance().token());
  const std::uint32_t question = in_messages(comm.key) ? kQuestionOfMessages : kQuestion;
  for (std::uint64_t p : others) Node::instance().write(p, comm.key, 0, {{0, Kind::state, 0, question}, {}, {}});
}

}  // namespace

void heard_state(std::uint64_t process, std::uint64_t key, std::uint32_t step, const std::vector<char>& data) {
  simt::Engine& engine = simt::Engine::instance();
  if (step == kEnd) {
    for (ncclComm* comm : Ranks::instance().of(key)) {
      comm->error = ncclRemoteError;
      if (comm->inside.empty()) continue;
      ridge_end_rank(Cause::rank_deadlock, true,
                     "ridge: NCCL: rank " + std::to_string(comm->rank) + " ends: another rank has reported why\n");
    }
    return;
  }
  if (step == kQuestion || step == kQuestionOfMessages) {
    std::set<std::uint64_t> others;
    for (const ncclComm* comm : Ranks::instance().of(key))
      others.insert(comm->processes.begin(), comm->processes.end());
    const std::vector<Waiting> waiting = waiting_of(key);
    const StateHeader header{engine.activity().count(), engine.activity().waits_in_vain() ? 1u : 0u,
                             static_cast<std::uint32_t>(others.size()), static_cast<std::uint32_t>(waiting.size())};
    const std::string text = local_states(key, step == kQuestionOfMessages || in_messages(key));
    std::vector<char> answer(sizeof header);
    std::memcpy(answer.data(), &header, sizeof header);
    for (std::uint64_t p : others) {
      const TrafficWith t{p, Node::instance().traffic(p)};
      const auto* bytes = reinterpret_cast<const char*>(&t);
      answer.insert(answer.end(), bytes, bytes + sizeof t);
    }
    const auto* bytes = reinterpret_cast<const char*>(waiting.data());
    answer.insert(answer.end(), bytes, bytes + waiting.size() * sizeof(Waiting));
    answer.insert(answer.end(), text.begin(), text.end());
    Node::instance().write(process, key, 0, {{0, Kind::state, 0, kAnswer}, {}, std::move(answer)});
    return;
  }
  StateHeader header;
  if (data.size() < sizeof header) return;
  std::memcpy(&header, data.data(), sizeof header);
  State& s = states()[{key, process}];
  if (s.activity != header.activity || s.since == 0) s.since = now();
  s.heard = now();
  s.activity = header.activity;
  s.blocked = header.blocked != 0;
  std::size_t at = sizeof header;
  for (std::uint32_t i = 0; i < header.processes && data.size() - at >= sizeof(TrafficWith); ++i) {
    TrafficWith t;
    std::memcpy(&t, data.data() + at, sizeof t);
    s.traffic[t.process] = t.traffic;
    at += sizeof t;
  }
  s.waiting.assign(std::min<std::size_t>(header.waiting, (data.size() - at) / sizeof(Waiting)), {});
  std::memcpy(s.waiting.data(), data.data() + at, s.waiting.size() * sizeof(Waiting));
  at += s.waiting.size() * sizeof(Waiting);
  s.text.assign(data.begin() + static_cast<std::ptrdiff_t>(at), data.end());
}

// No message between two of them is on its way: what one has sent, the other one has got.
bool nothing_travels(std::uint64_t key, const std::set<std::uint64_t>& others) {
  const std::uint64_t own = Node::instance().token();
  auto traffic = [&](std::uint64_t of, std::uint64_t with) {
    return of == own ? Node::instance().traffic(with) : states()[{key, of}].traffic[with];
  };
  std::vector<std::uint64_t> all(others.begin(), others.end());
  all.push_back(own);
  for (std::uint64_t a : all)
    for (std::uint64_t b : all)
      if (a != b && !Node::instance().gone(a) && !Node::instance().gone(b) &&
          traffic(a, b).sent != traffic(b, a).received)
        return false;
  return true;
}

void look_for_deadlock(double seconds) {
  static double asked = 0;
  const double time = now();
  const bool ask = time - asked > kAsk;
  if (ask) asked = time;
  for (ncclComm* comm : Ranks::instance().all()) {
    if (comm->inside.empty()) continue;
    bool all_wait = true, all_idle = true, gone = false, first = true;
    std::string others;
    std::vector<Waiting> waiting = waiting_of(comm->key);
    std::set<std::uint64_t> processes(comm->processes.begin(), comm->processes.end());
    processes.erase(Node::instance().token());
    if (ask && !processes.empty()) ask_others(*comm);
    for (std::uint64_t p : processes) {
      const State& s = states()[{comm->key, p}];
      if (Node::instance().gone(p)) {
        for (const Task* t : comm->inside)
          gone = gone || (t->waits_for() >= 0 && comm->processes[static_cast<std::size_t>(t->waits_for())] == p);
        for (std::size_t r = 0; r < comm->processes.size(); ++r)
          if (comm->processes[r] == p) others += "  rank " + std::to_string(r) + " has ended: its process is gone\n";
        continue;
      }
      const bool fresh = s.since > 0 && time - s.heard < kFresh;
      if (!fresh || time - s.since < kCertain || !s.blocked) all_wait = false;
      if (!fresh || time - s.since < patience()) all_idle = false;
      // One process reports: that of the lowest rank.
      if (comm->processes.front() == p) first = false;
      others += s.text;
      waiting.insert(waiting.end(), s.waiting.begin(), s.waiting.end());
    }
    // Threads of this process that do not wait may come yet.
    if (static_cast<std::size_t>(simt::Engine::instance().activity().waiting_threads()) < Ranks::instance().threads())
      for (const ncclComm* own : Ranks::instance().of(comm->key))
        if (own->inside.empty() && own->live) all_wait = false;
    if (all_wait) all_wait = nothing_travels(comm->key, processes);
    const bool certain = (all_wait || gone) && seconds > kCertain;
    const bool suspected = patience() > 0 && all_idle && seconds > patience();
    if (!certain && !suspected) continue;
    if (!first && !gone && seconds < (certain ? kCertain : patience()) + 2) continue;  // the first rank's process does
    char time_text[32];
    std::snprintf(time_text, sizeof time_text, "%.0f", seconds);
    const bool mpi = comm->key == kMpiKey;
    std::string report = mpi ? "ridge: MPI: " : "ridge: NCCL: ";
    report += gone      ? "a rank is gone, and others wait for it\n"
              : certain ? "deadlock: every rank waits for another one\n"
                        : std::string("no rank has moved for ") + time_text + " s (RIDGE_NCCL_TIMEOUT sets the time)\n";
    const bool messages = in_messages(comm->key);
    report += local_states(comm->key, messages) + others;
    // Both halves of a message, on two communicators.
    const Call& own = comm->inside.front()->call();
    const std::string its_half = own.what == What::send ? "but is in ncclRecv of " : "but is in ncclSend of ";
    const bool apart = messages && others.find(its_half) != std::string::npos &&
                       others.find("waits there for rank " + std::to_string(comm->rank)) != std::string::npos;
    report += mpi ? kAdviceMpi : apart ? kAdviceOneCommunicator : messages ? message_advice(waiting) : kAdviceNccl;
    end_with(*comm, Cause::rank_deadlock, report, gone);
  }
}

std::string place_of(std::uint64_t pc) {
  char text[32] = "";
  if (pc != 0) std::snprintf(text, sizeof text, " [at 0x%llx]", static_cast<unsigned long long>(pc));
  return text;
}

bool looks_for_mistakes() { return Node::instance().judged() || simt::Sanitizer::enabled(); }

void end_with_overrun(const ncclComm& comm, const Call& call, const std::string& what) {
  end_with(comm, Cause::collective_bounds,
           "ridge: NCCL: out of bounds\n  rank " + std::to_string(comm.rank) + ": " + text_of(call) +
               place_of(call.pc) + ": " + what + "\n");
}

void end_with_overlap(const ncclComm& comm, const Call& call, Cause why, const std::string& what) {
  end_with(comm, why,
           "ridge: NCCL: buffers overlap\n  rank " + std::to_string(comm.rank) + ": " + text_of(call) +
               place_of(call.pc) + ": " + what + "\n");
}

void end_with_mismatch(const ncclComm& comm, const Call& own, const Message& theirs) {
  std::string report = "ridge: NCCL: ranks disagree\n  rank " + std::to_string(comm.rank) + ": " + text_of(own);
  if (own.what > What::receive) report += ", #" + std::to_string(comm.collectives);
  report += place_of(own.pc) + "\n  rank " + std::to_string(theirs.slot.from) + ": " + text_of(theirs.call) +
            place_of(theirs.call.pc) + "\n";
  const bool messages = own.what <= What::receive || theirs.call.what <= What::receive;
  end_with(comm, messages ? Cause::message_mismatch : Cause::collective_mismatch, report);
}

}  // namespace ridge::collectives
