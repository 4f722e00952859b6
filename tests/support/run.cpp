#include "support/run.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace ridge::test {

constexpr double kBusy = 5;  // a machine that others use too

Run run(const std::vector<std::string>& argv, const std::map<std::string, std::string>& env, double limit,
        const std::string& dir) {
  Folder scratch;
  std::string out = scratch / "out", err = scratch / "err";
  auto start = std::chrono::steady_clock::now();
  // Nothing is allocated between fork and exec: another thread may have held the allocator's lock.
  std::vector<char*> args, variables;
  for (const auto& a : argv) args.push_back(const_cast<char*>(a.c_str()));
  args.push_back(nullptr);
  std::vector<std::string> own;
  for (const auto& [name, value] : env) own.push_back(name + "=" + value);
  for (char** e = environ; *e != nullptr; ++e)
    if (env.count(std::string(*e, strcspn(*e, "="))) == 0) variables.push_back(*e);
  for (std::string& v : own) variables.push_back(v.data());
  variables.push_back(nullptr);
  pid_t pid = fork();
  if (pid == 0) {
    setsid();
    int null = open("/dev/null", O_RDONLY);
    dup2(null, 0);
    dup2(open(out.c_str(), O_WRONLY | O_CREAT, 0600), 1);
    dup2(open(err.c_str(), O_WRONLY | O_CREAT, 0600), 2);
    if (!dir.empty() && chdir(dir.c_str()) != 0) _exit(126);
    execvpe(args[0], args.data(), variables.data());
    _exit(127);
  }
  int status = 0;
  Run r;
  for (;;) {
    if (waitpid(pid, &status, WNOHANG) == pid) break;
    r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (r.seconds > kBusy * limit) {
      kill(-pid, SIGKILL);
      waitpid(pid, &status, 0);
      throw std::runtime_error(argv[0] + " did not end within its limit; it printed:\n" + read_file(out) +
                               read_file(err));
    }
    usleep(2000);
  }
  kill(-pid, SIGKILL);
  r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  r.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  r.out = read_file(out);
  r.err = read_file(err);
  return r;
}

std::string ridge_program() { return RIDGE_PROGRAM; }
std::string repository() { return RIDGE_REPOSITORY; }

Folder::Folder() {
  const char* base = std::getenv("TMPDIR");
  path = std::string(base != nullptr ? base : "/tmp") + "/ridge-test-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
}
Folder::~Folder() {
  std::error_code ec;
  std::filesystem::remove_all(path, ec);
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_file(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace ridge::test
