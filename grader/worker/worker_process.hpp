// The judge's end of a worker: starts it, asks it to run calls, keeps the clock, and expects the worst.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "grader/base/paths.hpp"
#include "grader/sandbox/rank_sandbox.hpp"
#include "grader/sandbox/sandbox.hpp"
#include "grader/worker/files_window.hpp"
#include "worker/protocol.hpp"

namespace ridge {

enum class Fate {
  ok,
  crashed,    // the process ended in the middle of a request
  timed_out,  // stopped at the time limit
  flooded,    // stopped for printing without end
  protocol,   // answered with something that is not an answer
  memory,     // stopped for holding more memory than it may
  reported,   // a rank that ended by itself, and said why
};

// A trace of device work, in a file of the judge's own.
struct TraceFile {
  int fd = -1;
  std::uint64_t bytes = 0;
  TraceFile() = default;
  TraceFile(TraceFile&& other) noexcept { *this = std::move(other); }
  TraceFile& operator=(TraceFile&& other) noexcept {
    std::swap(fd, other.fd);
    std::swap(bytes, other.bytes);
    return *this;
  }
  ~TraceFile();
};

enum class Role {
  plain,   // runs the submission
  traced,  // the same, and yields a trace of its device work
  replay,  // runs the kernels of such a trace, and no host code of the submission
};

struct Reply {
  Fate fate = Fate::ok;
  protocol::Done done;       // valid where fate is ok
  protocol::Report report;   // valid where fate is reported
  bool replayed = false;     // the answer of, or the time spent in, a replay
  double seconds = 0;        // from the request's send to the answer's arrival, on the judge's clock
  int signal = 0;            // where it crashed
  bool with_others = false;  // a rank that was ended because another one failed
  int exit_code = 0;
  std::uint64_t held = 0;  // bytes of memory, where its time was up
  std::string launches;    // JSON of the emulator's launch records, as sent by the worker: not trusted
  TraceFile trace;         // where the request asked for one
  // Another rank is the cause.
  bool follows() const { return with_others || (fate == Fate::reported && report.follows != 0); }
  bool good() const { return fate == Fate::ok && done.status == protocol::Status::ok; }
};

struct WorkerOptions {
  bool gpu = false;  // is given the judge's GPU
  Role role = Role::plain;
  int rank = 0, ranks = 1;
  int messages = -1;  // a stream to the switchboard, of one of several ranks
};

// A worker that was started, in a sandbox: the judge's end of its socket, and what it prints.
struct StartedWorker {
  std::unique_ptr<SandboxRun> sandbox;
  pid_t pid = -1;
  int socket = -1, out = -1;
  std::string not_started;  // why
};
StartedWorker start_worker(const fs::path& program, const WorkerOptions& options);

// Answers a question that comes in the middle of a run. A run without one may ask nothing.
using Answerer = std::function<protocol::Told(const protocol::Ask&)>;

class WorkerProcess {
 public:
  // Starts `program` in a sandbox and waits for its hello. Throws Error(Exit::environment) where the machine can't run
  // it, and Error(Exit::failed) where it ends, hangs or says something else.
  WorkerProcess(const fs::path& program, double start_seconds, const WorkerOptions& options = {});
  // A worker that somebody else keeps, and that it ends when it ends: a rank of those in one sandbox (no rank is of use
  // alone), or of an agent. `timed`: answers' arrivals are.
  WorkerProcess(std::shared_ptr<RankHost> host, int rank, double start_seconds, bool timed);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  Reply add_buffer(const protocol::Buffer& buffer, int fd, double limit_seconds);
  // `request` without its number of calls.
  Reply run(const std::vector<protocol::Call>& calls, protocol::Run request, double limit_seconds,
            const Answerer& answerer = {});
  Reply replay(const protocol::Replay& request, int trace, double limit_seconds);

  // Who answers file requests in the runs from now on; without a service they fail.
  void set_files(FilesOwner owner) { files_ = owner; }

  bool alive() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }  // as the judge sees it; the worker may have a namespace of its own
  const protocol::Hello& hello() const { return hello_; }
  const std::string& output();  // what it printed so far, capped
  std::size_t printed() const { return printed_; }

 private:
  Reply request(protocol::Type type, const std::vector<char>& payload, int fd, double limit_seconds,
                bool wants_trace = false, const Answerer& answerer = {});
  bool wait_answer(double limit_seconds, const Answerer& answerer, Reply& reply, std::vector<char>& packet, int& fd);
  bool answer_file_request(std::span<const char> packet);  // false where it is none, or the worker is gone
  bool wait_packet(double limit_seconds, Reply& reply, std::vector<char>& packet, int& fd);
  bool drain();  // false once the worker printed too much
  void stop(Reply* reply);
  void greet(double start_seconds, const std::string& not_started);  // waits for the hello; throws
  bool over_memory() const { return ranks_ ? ranks_->over_memory() : sandbox_->over_memory(); }
  double waited_seconds() const { return ranks_ ? ranks_->waited_seconds() : sandbox_->waited_seconds(); }

  FilesOwner files_;
  FilesWindow files_window_;
  std::unique_ptr<SandboxRun> sandbox_;  // one of the two
  std::shared_ptr<RankHost> ranks_;
  int rank_ = 0;
  bool spins_ = false;  // while it waits for an answer
  pid_t pid_ = -1;
  int socket_ = -1;
  int out_ = -1;
  std::uint64_t sequence_ = 0;
  std::size_t printed_ = 0;
  std::string output_;
  protocol::Hello hello_;
};

}  // namespace ridge
