// Several ranks of a program in one sandbox.
#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "grader/sandbox/rank_sandbox.hpp"
#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge;
namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

// Ranks run a script of the shell, in a builder's sandbox: $1 is the rank, $3 their number.
Words shell(const std::string& script) { return {"/bin/sh", "-c", script}; }

std::string probe() { return fs::path(test::ridge_program()).parent_path() / "ridge-sandbox-probe"; }

// What a rank prints until it ends, or 5 s.
std::string output_of(int fd) {
  std::string text;
  char buffer[256];
  for (int i = 0; i < 500; ++i) {
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
    if (n == 0) break;
    if (n < 0) usleep(10000);
  }
  return text;
}

int exit_code(const std::optional<int>& status) { return status && WIFEXITED(*status) ? WEXITSTATUS(*status) : -1; }

bool complete() { return sandbox_complete(sandbox_report()); }

}  // namespace

TEST_CASE("each rank knows its number, has an output of its own, and its end is told") {
  RankSandbox ranks(builder_sandbox({}), shell("echo $0 $1 $2 $3; exit $(($1 + 3))"), 3);
  for (int r : {2, 0, 1}) {
    INFO(r);
    const int out = ranks.take_output(r);
    CHECK(output_of(out) == "rank " + std::to_string(r) + " of 3\n");
    close(out);
    CHECK(exit_code(ranks.ended(r, 5)) == r + 3);
  }
}

TEST_CASE("a rank that is killed is told apart from those that live, and all end together") {
  RankSandbox ranks(builder_sandbox({}), shell("[ $1 = 1 ] && kill -9 $$; sleep 100"), 3);
  const auto status = ranks.ended(1, 5);
  REQUIRE(status);
  CHECK(WIFSIGNALED(*status));
  CHECK(WTERMSIG(*status) == SIGKILL);
  CHECK_FALSE(ranks.ended(0, 0.05));
  CHECK_FALSE(ranks.ended(2, 0.05));
  const pid_t pid = ranks.pid();
  ranks.end();
  CHECK(kill(pid, 0) != 0);
  CHECK(sandbox_leftovers().empty());
  ranks.end();  // again: nothing
}

TEST_CASE("ranks share their temporary files with each other and with nobody else") {
  if (!complete()) return;
  const std::string name = "/tmp/ridge-rank-" + std::to_string(getpid());
  RankSandbox ranks(builder_sandbox({}),
                    shell("if [ $1 = 0 ]; then echo told > " + name +
                          "; sleep 100; fi; "
                          "i=0; until [ -s " +
                          name + " ]; do i=$((i + 1)); [ $i -gt 500 ] && exit 1; sleep 0.01; done; cat " + name),
                    2);
  const int out = ranks.take_output(1);
  CHECK(output_of(out) == "told\n");
  close(out);
  CHECK_FALSE(fs::exists(name));
}

TEST_CASE("a rank reaches its judge's socket, and neither this machine's network nor the process that started it") {
  if (!complete()) return;
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  socklen_t size = sizeof address;
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(bind(server, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(listen(server, 8) == 0);
  getsockname(server, reinterpret_cast<sockaddr*>(&address), &size);
  const Words attacks[] = {{"connect", std::to_string(ntohs(address.sin_port))},
                           {"write", "/proc/2/mem"},  // of ridge-sandbox-exec, which has no filter
                           {"read", "/proc/2/maps"},
                           {"trace"},
                           {"socket", "40"},  // AF_VSOCK
                           {"forks", "1"},
                           {"unshare"},
                           {"shell"},
                           {"root"}};
  for (const Words& attack : attacks) {
    INFO(attack[0] << " " << (attack.size() > 1 ? attack[1] : ""));
    Words argv = {probe()};
    argv.insert(argv.end(), attack.begin(), attack.end());
    RankSandbox ranks(worker_sandbox(probe(), false), argv, 2);
    const int out = ranks.take_output(1);
    INFO(output_of(out));
    close(out);
    CHECK(exit_code(ranks.ended(1, 5)) == 0);  // denied
  }
  close(server);
  // A socket is allowed: it leads to the sandbox's own loopback.
  RankSandbox ranks(worker_sandbox(probe(), false), {probe(), "socket", "2"}, 1);
  CHECK(exit_code(ranks.ended(0, 5)) == 1);
}

TEST_CASE("ranks speak MPI with each other") {
  if (!complete()) return;
  const std::string program = fs::path(test::ridge_program()).parent_path() / "ridge-mpi-probe";
  auto told = [&](const char* what, int count, int rank, int code) {
    INFO(what << ", rank " << rank << " of " << count);
    RankSandbox ranks(worker_sandbox(program, false), {program, what}, count);
    const int out = ranks.take_output(rank);
    const std::string text = output_of(out);
    close(out);
    INFO(text);
    CHECK(exit_code(ranks.ended(rank, 5)) == code);
    return text;
  };
  for (int count : {1, 2, 3, 8}) CHECK(told("all", count, count - 1, 0) == "ok\n");
  CHECK(told("gone", 3, 0, 86).find("rank 1 is gone, and rank 0 waits") != std::string::npos);
  CHECK(told("too-long", 2, 0, 86).find("has room for 4 bytes, and rank 1 sends 8") != std::string::npos);
  CHECK(told("nobody", 2, 1, 86).find("there is no rank 2 to send to: 2 ranks") != std::string::npos);
  CHECK(told("alone", 1, 0, 86).find("not one of several ranks") != std::string::npos);
}

// What an ordinary user may do to processes of his own, root's jobs may not.
TEST_CASE("an ordinary user's ranks are held just so") {
  if (geteuid() != 0 || !complete()) return;
  const std::string self = fs::read_symlink("/proc/self/exe");
  const std::vector<std::string> as_user = {"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"};
  auto command = [&](std::vector<std::string> rest) {
    rest.insert(rest.begin(), as_user.begin(), as_user.end());
    return test::run(rest, {{"HOME", "/tmp"}}, 120);
  };
  if (command({"test", "-x", self}).code != 0) {
    WARN("skipped: an ordinary user can't reach " << self);
    return;
  }
  const test::Run r = command({self, "a rank reaches*"});
  INFO(r.out << r.err);
  CHECK(r.code == 0);
}

TEST_CASE("a program that is not there is told") {
  RankSandbox ranks(builder_sandbox({}), {"/no/such/program"}, 2);
  CHECK(exit_code(ranks.ended(0, 5)) == 127);
}
