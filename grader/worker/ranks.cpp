#include "grader/worker/ranks.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <future>
#include <map>

#include "grader/base/error.hpp"
#include "grader/base/paths.hpp"

namespace ridge {

namespace {

int listen_on_loopback(int& port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(fd, 64) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    throw Error(Exit::environment, std::string("cannot listen for the agents: ") + std::strerror(errno), "try again");
  port = ntohs(address.sin_port);
  return fd;
}

// One whole report, or false.
bool receive(int fd, agent::Report& report) {
  auto* at = reinterpret_cast<char*>(&report);
  std::size_t left = sizeof report;
  while (left > 0) {
    pollfd p{fd, POLLIN, 0};
    if (poll(&p, 1, 2000) <= 0) return false;
    ssize_t n = read(fd, at, left);
    if (n <= 0) return false;
    at += n;
    left -= static_cast<std::size_t>(n);
  }
  report.host[sizeof report.host - 1] = report.device[sizeof report.device - 1] =
      report.error[sizeof report.error - 1] = 0;
  return report.magic == agent::kMagic && report.version == 1;
}

}  // namespace

bool RanksRun::ok() const {
  return mpi.exit_code == 0 && reports.size() == static_cast<std::size_t>(wanted) &&
         std::all_of(reports.begin(), reports.end(), [](const agent::Report& r) { return r.ok == 1; });
}

std::string why_no_ranks() {
  if (!fs::exists(build_dir() / "bin/ridge-agent"))
    return prebuilt() ? "this prebuilt Ridge has no rank agents"
                      : "the rank agents need Open MPI, which was not found when this ridge was built";
  return find_program({"mpirun"}).empty() ? "the rank agents need Open MPI, and no mpirun is on PATH" : "";
}

RanksRun run_ranks(int ranks, double seconds) {
  if (std::string why = why_no_ranks(); !why.empty())
    throw Error(Exit::environment, why,
                prebuilt() ? "install Open MPI, with a package made by `./ridge package tarball --with mpi`"
                           : "start it through ./ridge ranks, which installs it, or load the site's MPI module and "
                             "build again");
  fs::path agent = build_dir() / "bin/ridge-agent", worker = build_dir() / "bin/ridge-null-worker";
  int port = 0;
  int listener = listen_on_loopback(port);
  std::uint64_t token = 0;
  if (getrandom(&token, sizeof token, 0) != sizeof token)
    throw Error(Exit::environment, "no random numbers", "try again");
  setenv("RIDGE_JUDGE", fmt::format("127.0.0.1:{}", port).c_str(), 1);
  setenv("RIDGE_AGENT_TOKEN", fmt::format("{:x}", token).c_str(), 1);

  std::vector<std::string> argv = {find_program({"mpirun"}).string(),
                                   "-np",
                                   std::to_string(ranks),
                                   "--oversubscribe",
                                   "--bind-to",
                                   "none",
                                   "-x",
                                   "RIDGE_JUDGE",
                                   "-x",
                                   "RIDGE_AGENT_TOKEN"};
  if (geteuid() == 0) argv.push_back("--allow-run-as-root");
  argv.insert(argv.end(), {agent.string(), worker.string()});
  ProcessLimits limits;
  limits.seconds = seconds;
  auto launcher = std::async(std::launch::async, [&] { return run_process(argv, {}, limits); });

  std::map<std::uint32_t, agent::Report> reports;
  bool ended = false;
  while (reports.size() < static_cast<std::size_t>(ranks)) {
    pollfd p{listener, POLLIN, 0};
    if (poll(&p, 1, 100) > 0) {
      int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      agent::Report report;
      if (fd >= 0 && receive(fd, report) && report.token == token && report.size == static_cast<std::uint32_t>(ranks) &&
          report.rank < report.size)
        reports.emplace(report.rank, report);
      if (fd >= 0) close(fd);
      continue;
    }
    if (ended) break;
    ended = launcher.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
  RanksRun run;
  run.wanted = ranks;
  run.mpi = launcher.get();
  close(listener);
  for (const auto& [rank, report] : reports) run.reports.push_back(report);
  return run;
}

}  // namespace ridge
