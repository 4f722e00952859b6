// The sandbox against a program that tries to get out (sandbox_probe.cpp), as this user and, where this is root, as an
// ordinary one. Each attack fails with all layers on; the same attack works once the layers that stop it are off.
#include <arpa/inet.h>
#include <signal.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "grader/sandbox/sandbox.hpp"
#include "grader/sandbox/sandbox_gpu.hpp"
#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge::test;
namespace fs = std::filesystem;

namespace {

std::string beside(const std::string& name) { return fs::path(ridge_program()).parent_path() / name; }
const std::string& runner() {
  static const std::string path = beside("ridge-sandbox-run");
  return path;
}
const std::string& probe() {
  static const std::string path = beside("ridge-sandbox-probe");
  return path;
}

using Words = std::vector<std::string>;
Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// How programs of an ordinary user are started, where this is root: nobody's processes can't hide among root's.
Words as_user() { return {"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"}; }

std::vector<std::pair<std::string, Words>> users() {
  std::vector<std::pair<std::string, Words>> all = {{geteuid() == 0 ? "root" : "user", {}}};
  if (geteuid() == 0) all.push_back({"nobody", as_user()});
  return all;
}

std::map<std::string, std::string> without(const std::string& names) {
  return {{"RIDGE_DEFENCES_OFF", names}, {"RIDGE_SECRET", "judge's own"}};
}

Run worker(const Words& user, const Words& attack, const std::string& off = "", const Words& options = {}) {
  return run(user + Words{runner(), "worker"} + options + Words{probe()} + attack, without(off));
}

// Empty where everything that a complete sandbox needs is here, for all users; else what is missing.
std::string missing() {
  static const std::string what = [] {
    std::string all;
    for (const auto& [name, user] : users()) {
      if (!user.empty() && access(probe().c_str(), X_OK) == 0 && run(user + Words{"test", "-x", probe()}).code != 0)
        return "an ordinary user can't reach " + probe();
      Run r = run(user + Words{runner(), "layers"});
      if (r.code != 0) all += "for " + name + ":\n" + r.out + r.err;
    }
    return all;
  }();
  return what;
}

#define NEEDS_SANDBOX                                \
  if (!missing().empty()) {                          \
    WARN("skipped, no sandbox here: " << missing()); \
    return;                                          \
  }

bool runs(const std::string& name) {  // a process with this first argument
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream in(entry.path() / "cmdline", std::ios::binary);
    std::string first;
    if (std::getline(in, first, '\0') && first == name) return true;
  }
  return false;
}

// A server on the loopback of this machine, which must not be reached.
struct Server {
  Server() : fd(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(listen(fd, 8) == 0);
    getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
    port = std::to_string(ntohs(address.sin_port));
  }
  ~Server() { close(fd); }
  int fd;
  std::string port;
};

}  // namespace

TEST_CASE("what a worker needs works in its sandbox") {
  NEEDS_SANDBOX
  for (const auto& [name, user] : users()) {
    INFO("as " << name);
    Run r = worker(user, {"ordinary"});
    INFO(r.out << r.err);
    CHECK(r.code == 0);
    CHECK(worker(user, {"crash"}).code == 128 + SIGABRT);  // its own signal is told
    CHECK(run(user + Words{runner(), "worker", "/no/such/program"}).code == 125);
  }
}

TEST_CASE("no attack works from inside a worker's sandbox") {
  NEEDS_SANDBOX
  Folder home;
  write_file(home / "secret", "expected output");
  fs::permissions(home.path, fs::perms::all);
  fs::permissions(home / "secret", fs::perms::all);
  Server server;
  const std::string self = std::to_string(getpid());
  const std::vector<Words> attacks = {{"read", "/etc/passwd"},
                                      {"read", "/etc/hostname"},
                                      {"read", home / "secret"},
                                      {"read", repository() + "/README.md"},
                                      {"read", "/proc/1/environ"},
                                      {"list", "/etc/ssl"},
                                      {"list", "/root"},
                                      {"list", "/home"},
                                      {"list", "/usr/bin"},
                                      {"list", "/sys"},
                                      {"list", repository()},
                                      {"list", fs::path(probe()).parent_path()},
                                      {"write", probe() + ".new"},
                                      {"write", "/new"},
                                      {"write", "/dev/new"},
                                      {"write", home / "new"},
                                      {"socket", "1"},
                                      {"socket", "2"},
                                      {"socket", "10"},
                                      {"socket", "40"},  // AF_VSOCK
                                      {"netlink"},
                                      {"connect", server.port},
                                      {"see-others"},
                                      {"stop"},
                                      {"stop", self},
                                      {"trace", self},
                                      {"trace", "1"},
                                      {"trace-me"},
                                      {"read-memory"},
                                      {"read-memory", self},
                                      {"mount"},
                                      {"unshare"},
                                      {"clone-user"},
                                      {"clone3-user"},
                                      {"forks", "1"},
                                      {"threads", "2500"},
                                      {"fill", "/tmp", "600"},
                                      {"fill", "/dev/shm", "600"},
                                      {"big-file", "/tmp", "3000000000"},
                                      {"orphan"},
                                      {"sysv"},
                                      {"descriptors", "3"},
                                      {"variable", "RIDGE_SECRET"},
                                      {"variable", "RIDGE_DEFENCES_OFF"},
                                      {"variable", "USER"},
                                      {"parent-says", probe()},
                                      {"terminal"},
                                      {"io-uring"},
                                      {"bpf"},
                                      {"perf"},
                                      {"keys"},
                                      {"fault-handler"},
                                      {"personality"},
                                      {"trap-writes"},
                                      {"raise-limit"},
                                      {"shell"},
                                      {"root"}};
  for (const auto& [name, user] : users())
    for (const Words& attack : attacks) {
      // In the sandbox's own /tmp, a checkout there has empty parents of the program.
      if (repository().rfind("/tmp/", 0) == 0 && attack.size() > 1 && attack[1].rfind(repository(), 0) == 0) continue;
      Run r = worker(user, attack);
      INFO("as " << name << ": " << attack[0] << ' ' << (attack.size() > 1 ? attack[1] : "") << ": " << r.out << r.err);
      CHECK(r.code == 0);
    }
}

TEST_CASE("memory beyond the limit ends the worker") {
  NEEDS_SANDBOX
  for (const auto& [name, user] : users()) {
    INFO("as " << name);
    CHECK(worker(user, {"memory", "100"}, "", {"--memory", "400"}).code == 1);  // enough for this
    CHECK(worker(user, {"memory", "6000"}, "", {"--memory", "400"}).code == 128 + SIGKILL);
  }
}

TEST_CASE("a hung program ends in time, and with all that it started") {
  NEEDS_SANDBOX
  for (const auto& [name, user] : users()) {
    INFO("as " << name);
    Run r = worker(user, {"hang"}, "", {"--seconds", "1"});
    CHECK(r.code == 124);
    CHECK(r.seconds < 30);
    CHECK(worker(user, {"flood"}, "", {"--seconds", "60"}).code == 128 + SIGKILL);
    // Processes can be started without the filter; they end with their namespace.
    r = worker(user, {"orphan"}, "system-calls,landlock");
    CHECK(r.code == 1);
    CHECK_FALSE(runs("ridge-orphan"));
  }
}

TEST_CASE("nothing is left of a sandbox") {
  NEEDS_SANDBOX
  for (const auto& [name, user] : users()) {
    INFO("as " << name);
    const std::string file = "/ridge-sandbox-test";
    Run r = worker(user, {"shm", file});
    CHECK(r.code == 1);  // a place of its own
    CHECK_FALSE(fs::exists("/dev/shm" + file));
    CHECK(worker(user, {"fill", "/tmp", "8"}).code == 1);
    CHECK_FALSE(fs::exists("/tmp/fill0"));
    r = worker(user, {"sysv"}, "system-calls");
    CHECK(r.code == 1);
    CHECK(shmget(0x51D6E, 4096, 0) < 0);
    CHECK(r.out.find("left behind") == std::string::npos);
  }
  for (const char* controller : {"pids", "memory", "."})
    for (const fs::path& folder : {fs::path("/sys/fs/cgroup") / controller})
      if (std::error_code ec; fs::exists(folder, ec))
        for (const auto& entry : fs::directory_iterator(folder, ec)) {
          std::string own = entry.path().filename();
          if (own.rfind("ridge-job-", 0) == 0) {
            INFO(entry.path());
            CHECK(kill(std::atoi(own.c_str() + 10), 0) == 0);  // of a judge that is at work
          }
        }
}

TEST_CASE("each layer holds by itself, and the others stop nothing by chance") {
  NEEDS_SANDBOX
  const std::string sandbox = "worker-sandbox", calls = "system-calls", landlock = "landlock", limits = "worker-limits";
  struct Try {
    Words attack;
    std::string off;
    bool works;
  };
  const std::vector<Try> tries = {
      // Files: the file system that is shown, and Landlock.
      {{"read", "/etc/passwd"}, landlock, false},
      {{"read", "/etc/passwd"}, sandbox, false},
      {{"read", "/etc/passwd"}, sandbox + "," + landlock, true},
      // Network: the namespace, the filter, Landlock (TCP only).
      {{"socket", "40"}, calls, true},  // bubblewrap alone lets it through
      {{"socket", "40"}, sandbox, false},
      {{"socket", "2"}, calls, true},
      // Processes.
      {{"forks", "3"}, calls, true},
      {{"forks", "2500"}, calls, false},
      {{"see-others"}, sandbox + "," + landlock, true},
      {{"trace-me"}, calls, true},
      {{"unshare"}, sandbox, false},
      {{"sysv"}, calls, true},
      // Limits.
      {{"threads", "2500"}, limits, true},
      {{"fill", "/tmp", "200"}, limits, true},
      // The judge's environment.
      {{"variable", "RIDGE_SECRET"}, "clean-environment", true},
  };
  for (const auto& [name, user] : users())
    for (const Try& t : tries) {
      Run r = worker(user, t.attack, t.off);
      INFO("as " << name << ": " << t.attack[0] << " without " << t.off << ": " << r.out << r.err);
      CHECK(r.code == (t.works ? 1 : 0));
    }
}

TEST_CASE("a connection to this machine fails without the filter and works without the namespace") {
  NEEDS_SANDBOX
  Server server;
  for (const auto& [name, user] : users()) {
    INFO("as " << name);
    CHECK(worker(user, {"connect", server.port}, "system-calls").code == 0);
    CHECK(worker(user, {"connect", server.port}, "system-calls,landlock,worker-sandbox").code == 1);
  }
}

TEST_CASE("compilers run in a sandbox that shows their folder and nothing else") {
  NEEDS_SANDBOX
  // What appears there between two readings of a source must not be seen (grader/compile/prepared.hpp).
  const std::string prepared = fs::path(ridge_program()).parent_path().parent_path() / "prepared";
  fs::create_directories(prepared);
  for (const auto& [name, user] : users()) {
    INFO("as " << name);
    Folder home;
    fs::create_directory(home / "build");
    write_file(home / "secret", "int secret;");
    write_file(home / "build/good.cpp", "int main() { return 0; }\n");
    write_file(home / "build/bad.cpp", "#include \"" + home / "secret" + "\"\n#include \"/etc/passwd\"\n");
    for (const char* p : {"", "/build", "/secret"}) fs::permissions(home.path + p, fs::perms::all);
    auto build = [&](const Words& command, const std::string& off = "") {
      return run(user + Words{runner(), "builder", "--dir", home / "build"} + command, without(off));
    };
    Run r = build({"/usr/bin/c++", "good.cpp", "-o", "good"});
    INFO(r.out << r.err);
    CHECK(r.code == 0);
    CHECK(fs::exists(home / "build/good"));
    struct stat made {};
    CHECK(stat((home / "build/good").c_str(), &made) == 0);
    CHECK((geteuid() == 0 && user.empty() ? made.st_uid >= 65534 : made.st_uid != 0));  // root's compilers are others
    r = build({"/usr/bin/c++", "-fsyntax-only", "bad.cpp"});
    CHECK(r.code == 1);
    CHECK(r.out.find("root:") == std::string::npos);
    CHECK(r.out.find("secret: No such file") != std::string::npos);
    r = build({"/usr/bin/c++", "-fsyntax-only", "bad.cpp"}, "build-sandbox,landlock");
    CHECK(r.out.find("root:") != std::string::npos);
    for (const Words& attack : std::vector<Words>{{"read", "/etc/passwd"},
                                                  {"list", "/root"},
                                                  {"list", "/home"},
                                                  {"read", home / "secret"},
                                                  {"write", "/usr/new"},
                                                  {"write", repository() + "/runtime/new"},
                                                  {"list", repository() + "/labs"},
                                                  {"socket", "2"},
                                                  {"socket", "40"},
                                                  {"see-others"},
                                                  {"trace-me"},
                                                  {"mount"},
                                                  {"unshare"},
                                                  {"forks", "2500"},
                                                  {"variable", "RIDGE_SECRET"},
                                                  {"big-file", home / "build", "8000000000"},
                                                  {"memory", "20000"},
                                                  {"descriptors", "2"}}) {
      r = build(Words{probe()} + attack);
      INFO(attack[0] << ' ' << (attack.size() > 1 ? attack[1] : "") << ": " << r.out << r.err);
      CHECK(r.code == 0);
    }
    CHECK(build({"/bin/ls", prepared}).code != 0);
    CHECK(build({"/bin/ls", home / "build"}).code == 0);
    CHECK(build(Words{probe(), "write", home / "build/new"}).code == 1);
    build(Words{probe(), "write", home / "beside"});  // at best into a /tmp of its own
    CHECK_FALSE(fs::exists(home / "beside"));
    CHECK(build(Words{probe(), "orphan"}).code == 1);
    CHECK_FALSE(runs("ridge-orphan"));
  }
}

TEST_CASE("fixed addresses are the same in every run") {
  NEEDS_SANDBOX
  auto address = [](const Words& options) { return worker({}, {"ordinary"}, "", options).out; };
  CHECK(address({"--fixed"}) == address({"--fixed"}));
  CHECK(address({}) != address({}));
  auto bare = [](const std::string& layers) {  // without some layers, too
    return run({runner(), "worker", "--fixed", probe(), "ordinary"}, without(layers)).out;
  };
  CHECK(bare("worker-sandbox") == bare("worker-sandbox"));
}

TEST_CASE("a sandbox ends with the judge") {
  NEEDS_SANDBOX
  for (const auto& [name, user] : users()) {
    INFO("as " << name);
    // The judge is killed in the middle; what it started must not outlive it.
    Words judge = user + Words{runner(), "worker", probe(), "hang", "ridge-hang-test"};
    std::string line;
    for (const auto& word : judge) line += word + " ";
    Run r = run({"sh", "-c", line + "& sleep 1; kill -KILL $!; sleep 0.5"});
    for (const auto& entry : fs::directory_iterator("/proc")) {
      std::string text = read_file(entry.path() / "cmdline");
      bool hangs = text.find(probe()) == 0 && text.find("ridge-hang-test") != std::string::npos;
      CHECK_FALSE(hangs);
    }
  }
}

TEST_CASE("a header outside of the submission is not read, by the judge either") {
  NEEDS_SANDBOX
  Folder home;
  write_file(home / "secret", "the expected output");
  fs::copy(repository() + "/solutions/01_coalescing", home / "submission");
  write_file(home / "submission/copy.cu", "#include \"" + home / "secret" + "\"\n");
  Run r = run({ridge_program(), "check", "01", "--backend", "cpu", "--submission", home / "submission"},
              {{"RIDGE_RESULTS", home / "results"}});
  INFO(r.out << r.err);
  CHECK(r.code == 4);
  CHECK(r.err.find("the expected output") == std::string::npos);
}

TEST_CASE("a result carries its sandbox") {
  Folder home;
  std::map<std::string, std::string> env = {{"RIDGE_RESULTS", home / "results"}, {"RIDGE_BWRAP", "/no/bwrap"}};
  Run r = run({ridge_program(), "check", "01", "--backend", "cpu", "--submission",
               repository() + "/solutions/01_coalescing", "--json", home / "result.json"},
              env);
  INFO(r.out << r.err);
  CHECK(r.code == 0);  // the other layers do not stand in honest code's way
  CHECK(r.out.find("Unsandboxed: no namespaces here") != std::string::npos);
  std::string json = read_file(home / "result.json");
  auto at = json.find("\"sandbox\"");
  REQUIRE(at != std::string::npos);
  CHECK(json.find("\"complete\": false", at) != std::string::npos);
}

// As in a container that forbids namespaces: what is left must still keep a submission from the judge's own files.
TEST_CASE("without namespaces, root's jobs are another user's all the same") {
  if (geteuid() != 0) {
    WARN("skipped: only root can become another user");
    return;
  }
  if (run(as_user() + Words{"test", "-x", runner()}).code != 0) {
    WARN("skipped: an ordinary user can't reach " << runner());
    return;
  }
  Folder home;
  write_file(home / "seed", "secret");
  fs::permissions(home / "", fs::perms(0755));
  fs::permissions(home / "seed", fs::perms(0600));
  auto builder = [&](const std::string& off, const Words& command) {
    auto env = without(off);
    env["RIDGE_BWRAP"] = "/no/bwrap";
    return run(Words{runner(), "builder"} + command, env);
  };
  Run r = builder("", {"id", "-u"});
  INFO(r.out << r.err);
  CHECK(r.code == 0);
  CHECK(std::atol(r.out.c_str()) >= 65534);
  r = builder("landlock", {"cat", home / "seed"});
  CHECK(r.code != 0);
  CHECK(r.out.find("secret") == std::string::npos);
  fs::permissions(home / "seed", fs::perms(0644));
  CHECK(builder("landlock", {"cat", home / "seed"}).out.find("secret") != std::string::npos);
  CHECK(builder("", {"cat", home / "seed"}).code != 0);
}

TEST_CASE("a missing layer is named, and --require-sandbox refuses") {
  Run r = run({ridge_program(), "doctor"}, {{"RIDGE_BWRAP", "/no/bwrap"}});
  CHECK(r.out.find("apt-get install bubblewrap") != std::string::npos);
  CHECK(r.out.find("marked unsandboxed") != std::string::npos);
  r = run({ridge_program(), "grade", "01", "--backend", "cpu", "--require-sandbox"}, {{"RIDGE_BWRAP", "/no/bwrap"}});
  CHECK(r.code == 3);
  CHECK(r.err.find("--require-sandbox: no namespaces here") != std::string::npos);
}

TEST_CASE("the number of a GPU's node is read from the driver") {
  CHECK(ridge::device_minor("Model: \t\t NVIDIA H200\nDevice Minor: \t 3\nGPU Excluded:\t No\n") == 3);
  CHECK(ridge::device_minor("Model: NVIDIA H200\n") == -1);
  CHECK(ridge::device_minor("") == -1);
  CHECK(ridge::device_minor("Device Minor: none") == -1);
}
