// The judge's end of a worker: starts it, asks it to run calls, keeps the clock, and expects the worst.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "paths.hpp"
#include "worker/protocol.hpp"

namespace ridge {

enum class Fate {
  ok,
  crashed,    // the process ended in the middle of a request
  timed_out,  // stopped at the time limit
  flooded,    // stopped for printing without end
  protocol,   // answered with something that is not an answer
};

struct Reply {
  Fate fate = Fate::ok;
  protocol::Done done;  // valid where fate is ok
  double seconds = 0;   // from the request's send to the answer's arrival, on the judge's clock
  int signal = 0;       // where it crashed
  int exit_code = 0;
  std::string launches;  // JSON of the emulator's launch records, as sent by the worker: not trusted
};

class WorkerProcess {
 public:
  // Starts `program` and waits for its hello. Throws Error(Exit::environment) where the machine can't run it, and
  // Error(Exit::failed) where it ends, hangs or says something else.
  WorkerProcess(const fs::path& program, double start_seconds);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  Reply add_buffer(const protocol::Buffer& buffer, int fd, double limit_seconds);
  Reply run(const std::vector<protocol::Call>& calls, bool record, double limit_seconds, bool sanitize = false);

  bool alive() const { return pid_ > 0; }
  const protocol::Hello& hello() const { return hello_; }
  const std::string& output();  // what it printed so far, capped
  std::size_t printed() const { return printed_; }

 private:
  Reply request(protocol::Type type, const std::vector<char>& payload, int fd, double limit_seconds);
  bool wait_packet(double deadline, Reply& reply, std::vector<char>& packet, int& fd);
  bool drain();  // false once the worker printed too much
  void stop(Reply* reply);

  pid_t pid_ = -1;
  int socket_ = -1;
  int out_ = -1;
  std::uint64_t sequence_ = 0;
  std::size_t printed_ = 0;
  std::string output_;
  protocol::Hello hello_;
};

}  // namespace ridge
