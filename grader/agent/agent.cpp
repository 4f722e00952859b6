// ridge-agent: one per rank, started by mpirun or srun. It holds MPI, starts the rank's worker, and reports to the
// judge; the worker knows neither MPI nor the judge.
#include <arpa/inet.h>
#include <mpi.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "grader/base/error.hpp"
#include "grader/worker/agent_protocol.hpp"
#include "grader/worker/worker_process.hpp"
#include "serve.hpp"

namespace {

template <std::size_t N>
void put(char (&to)[N], const std::string& text) {
  std::snprintf(to, N, "%s", text.c_str());
}

// Sends the report to "host:port". False where the judge can't be reached.
bool report_to(const std::string& judge, const ridge::agent::Report& report) {
  auto colon = judge.rfind(':');
  if (colon == std::string::npos) return false;
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(judge.substr(0, colon).c_str(), judge.substr(colon + 1).c_str(), &hints, &found) != 0) return false;
  int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool ok = fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) == 0 &&
            send(fd, &report, sizeof report, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof report);
  if (fd >= 0) close(fd);
  freeaddrinfo(found);
  return ok;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc == 2 && std::string(argv[1]) == "serve") {
    MPI_Barrier(MPI_COMM_WORLD);  // all are there
    const int code = ridge::agent::serve(rank, size);
    MPI_Finalize();
    return code;
  }
  const char* judge = std::getenv("RIDGE_JUDGE");
  const char* token = std::getenv("RIDGE_AGENT_TOKEN");
  if (argc != 2 || judge == nullptr || token == nullptr) {
    if (rank == 0) std::fprintf(stderr, "ridge-agent is started by `ridge ranks`, not by hand\n");
    MPI_Finalize();
    return 2;
  }

  ridge::agent::Report report;
  report.token = std::strtoull(token, nullptr, 16);
  report.rank = static_cast<std::uint32_t>(rank);
  report.size = static_cast<std::uint32_t>(size);
  report.agent_pid = static_cast<std::uint32_t>(getpid());
  gethostname(report.host, sizeof report.host - 1);
  std::unique_ptr<ridge::WorkerProcess> worker;
  try {
    worker = std::make_unique<ridge::WorkerProcess>(argv[1], 30);
    report.worker_pid = worker->pid();
    put(report.device, worker->hello().device);
    double best = 1e9;
    bool ok = true;
    for (int i = 0; i < 11 && ok; ++i) {
      ridge::Reply r = worker->run({}, {}, 10);
      ok = r.fate == ridge::Fate::ok && r.done.status == ridge::protocol::Status::ok;
      best = std::min(best, r.seconds);
    }
    report.ok = ok ? 1 : 0;
    report.round_trip_s = best;
  } catch (const ridge::Error& e) {
    put(report.error, e.what());
  }

  // Every agent reaches this barrier, also one whose worker failed: the others must not wait for ever.
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  MPI_Barrier(MPI_COMM_WORLD);
  report.barrier_s = MPI_Wtime() - start;
  bool sent = report_to(judge, report);
  if (!sent) std::fprintf(stderr, "ridge-agent: rank %d cannot reach the judge at %s\n", rank, judge);
  worker.reset();
  MPI_Finalize();
  return sent ? 0 : 3;
}
