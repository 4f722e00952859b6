#include "grader/sandbox/sandbox.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <random>
#include <set>

#include "grader/base/defence.hpp"
#include "grader/base/error.hpp"
#include "grader/sandbox/process.hpp"
#include "grader/sandbox/sandbox_cgroup.hpp"
#include "grader/sandbox/sandbox_config.hpp"
#include "grader/sandbox/sandbox_filter.hpp"
#include "grader/sandbox/sandbox_layers.hpp"

namespace ridge {

using sandbox::Stage;

namespace {

std::mutex leftovers_mutex;
std::string all_leftovers;

// A list of strings in a memory file, each with its end.
class Records {
 public:
  void add(const std::string& text) { bytes_.append(text.c_str(), text.size() + 1); }
  void add(const std::string& key, const std::string& value) {
    add(key);
    add(value);
  }
  void add_raw(const std::string& bytes) { bytes_ += bytes; }
  int file() const {
    int fd = memfd_create("sandbox", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes_.data(), bytes_.size()) != static_cast<ssize_t>(bytes_.size()) ||
        lseek(fd, 0, SEEK_SET) != 0)
      throw Error(Exit::environment, std::string("cannot prepare a sandbox: ") + std::strerror(errno),
                  "free some memory, or close some programs");
    return fd;
  }

 private:
  std::string bytes_;
};

// The layers of a run: those that this machine has and that are not switched off.
SandboxParts parts_of(const Sandbox& s, SandboxParts have) {
  const bool apart = on(s.builder ? Defence::build_sandbox : Defence::worker_sandbox);
  have.namespaces &= apart;
  have.become_nobody &= apart;
  have.system_calls &= on(Defence::system_calls);
  have.landlock &= on(Defence::landlock);
  have.limits = on(s.builder ? Defence::build_limits : Defence::worker_limits);
  have.group &= have.limits;
  return have;
}

bool beneath(const fs::path& p, const fs::path& folder) {
  fs::path relative = p.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

// Folders of the system that programs are made of. A worker needs the libraries only.
std::vector<fs::path> system_folders(bool builder) {
  if (builder) return {"/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32"};
  return {"/usr/lib", "/usr/lib64", "/usr/lib32", "/lib", "/lib64"};
}

// A compiler that is no part of the system (a module, a toolkit in /opt) needs the folder that it is installed in.
void show_toolchain(const fs::path& program, Sandbox& s) {
  std::error_code ec;
  fs::path real = fs::canonical(program, ec);
  if (ec) return;
  for (const fs::path& folder : system_folders(true))
    if (beneath(real, folder)) return;
  fs::path prefix = real.parent_path().filename() == "bin" ? real.parent_path().parent_path() : real;
  s.read_only.push_back(prefix == prefix.root_path() ? real : prefix);
  if (!beneath(program, prefix)) s.read_only.push_back(program);
}

const char* const kDevices[] = {"/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"};

// bwrap's options. Later mounts lie over earlier ones.
void describe_namespaces(const Sandbox& s, const SandboxParts& parts, const fs::path& helper, Records& r) {
  for (const char* option : {"--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
                             "--die-with-parent", "--new-session", "--cap-drop", "ALL"})
    r.add(option);
  std::string id = std::to_string(sandbox::kNobody);
  if (parts.user_namespace) {
    for (const auto& option : {std::string("--unshare-user"), std::string("--uid"), id, std::string("--gid"), id})
      r.add(option);
    if (parts.no_nested_namespaces) r.add("--disable-userns");
  } else {  // root: ridge-sandbox-exec gives it up
    for (const char* option : {"--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"}) r.add(option);
  }
  r.add("--info-fd", std::to_string(sandbox::kInfoFd));
  // bwrap makes missing parents for the owner alone, which the program need not be.
  std::set<std::string> made;
  const fs::path root = root_dir();
  auto show = [&](const char* how, const fs::path& from, const fs::path& to) {
    fs::path parent;
    for (const auto& part : to.parent_path()) {
      parent /= part;
      if (parent == "/" || !made.insert(parent.string()).second) continue;
      bool there = false;
      for (const fs::path& folder : system_folders(s.builder))
        there = there || (beneath(parent, folder) && !beneath(parent, root));
      if (!there) r.add("--dir", parent.string());
    }
    r.add(how);
    r.add(from.string(), to.string());
  };
  auto tmpfs = [&](const char* where) {
    if (parts.sized_tmpfs && parts.limits) r.add("--size", std::to_string(s.tmpfs_bytes));
    r.add("--tmpfs", where);
  };
  for (const fs::path& folder : system_folders(s.builder)) {
    std::error_code ec;
    if (fs::is_symlink(folder, ec))
      show("--symlink", fs::read_symlink(folder, ec), folder);
    else if (fs::exists(folder, ec))
      show("--ro-bind", folder, folder);
  }
  show("--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache");
  if (s.builder) {
    show("--ro-bind-try", "/etc/alternatives", "/etc/alternatives");
    show("--ro-bind-try", "/etc/nvcc.profile", "/etc/nvcc.profile");
  }
  r.add("--proc", "/proc");
  r.add("--dir", "/dev");
  for (const char* device : kDevices) show("--dev-bind-try", device, device);
  for (const auto& device : s.devices) show("--dev-bind-try", device, device);
  tmpfs("/tmp");
  tmpfs("/dev/shm");
  // The course itself may lie in a folder of the system (a package's in /usr/lib): its answers are not shown.
  for (const fs::path& folder : system_folders(s.builder))
    if (beneath(root, folder)) r.add("--tmpfs", root.string());
  for (const auto& p : s.read_only) {
    bool shown = false;
    for (const fs::path& folder : system_folders(s.builder)) shown = shown || (beneath(p, folder) && !beneath(p, root));
    if (!shown) show("--ro-bind-try", p, p);
  }
  for (const auto& p : s.writable) show("--bind", p, p);
  show("--ro-bind", helper, "/.ridge/sandbox-exec");
  r.add("--remount-ro", "/");
}

// The user that root's jobs run as: one for each judge, so that the processes of one job do not count against another's
// limit. Nobody's where this system's root may not take on just any user (a container with few ids).
unsigned job_identity() {
  static const unsigned id = [] {
    constexpr unsigned kFirst = 0x70000000, kMany = 0x0fffffff;
    unsigned from = 0, to = 0, many = 0;
    std::FILE* map = std::fopen("/proc/self/uid_map", "re");
    const bool all =
        map != nullptr && std::fscanf(map, "%u %u %u", &from, &to, &many) == 3 && from == 0 && many > kFirst + kMany;
    if (map != nullptr) std::fclose(map);
    return all ? kFirst + std::random_device()() % kMany : sandbox::kNobody;
  }();
  return id;
}

// Since Linux 5.14 RLIMIT_NPROC counts a user's processes in each user namespace.
bool counts_by_namespace() {
  utsname system{};
  int major = 0, minor = 0;
  return uname(&system) == 0 && std::sscanf(system.release, "%d.%d", &major, &minor) == 2 &&
         (major > 5 || (major == 5 && minor >= 14));
}

void describe_orders(const Sandbox& s, const SandboxParts& parts, const std::vector<std::string>& argv, int last_kept,
                     Records& r) {
  if (parts.namespaces)
    for (const char* p : {"/tmp", "/dev/shm"}) r.add("open-to-all", p);
  if (parts.become_nobody) r.add("identity", std::to_string(job_identity()));
  auto limit = [&](int resource, std::uint64_t value) { r.add("limit", fmt::format("{} {}", resource, value)); };
  if (parts.limits) {
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, s.file_bytes);
    limit(RLIMIT_NOFILE, s.open_files);
    limit(RLIMIT_CPU, s.cpu_seconds);
    limit(RLIMIT_STACK, 8 << 20);
    limit(RLIMIT_MSGQUEUE, 0);
    // The bound is loose if the system counts the user's other processes as well.
    bool alone = parts.namespaces && parts.user_namespace && counts_by_namespace();
    limit(RLIMIT_NPROC, s.tasks + (alone ? 0 : parts.become_nobody ? 1024 : 4096));
    // A worker on the emulator reserves hundreds of GiB of addresses: for it the judge looks at the memory in use.
    if (s.builder) limit(RLIMIT_AS, s.memory_bytes);
  }
  if (s.fixed_addresses) r.add("fixed-addresses", "");
  if (parts.landlock) {
    r.add("landlock", s.ranks > 0 ? "network" : "");  // of the sandbox alone, where there are namespaces
    for (const fs::path& p : system_folders(s.builder)) r.add("run", p.string());
    for (const auto& p : s.read_only) r.add("run", p.string());
    for (const char* p : {"/proc", "/etc/ld.so.cache"}) r.add("see", p);
    if (s.builder)
      for (const char* p : {"/etc/alternatives", "/etc/nvcc.profile"}) r.add("see", p);
    for (const char* p : kDevices) r.add("device", p);
    for (const auto& p : s.devices) r.add("device", p);
    for (const auto& p : s.writable) r.add("write", p.string());
    // NVIDIA's driver names its threads (/proc/self/task/N/comm), and gives up where it can't.
    if (!s.builder && !s.devices.empty()) r.add("write", "/proc");
    if (parts.namespaces)  // else these are everybody's
      for (const char* p : {"/tmp", "/dev/shm"}) r.add("write", p);
    r.add("run", argv[0]);
  }
  Calls calls = s.builder           ? Calls::builder
                : s.ranks > 0       ? Calls::ranks
                : s.devices.empty() ? Calls::worker
                                    : Calls::gpu_worker;
  if (parts.system_calls)
    for (const auto& program : system_call_filters(calls)) {
      r.add("filter", std::to_string(program.size()));
      r.add_raw(program);
    }
  if (s.ranks > 0) r.add("ranks", std::to_string(s.ranks));
  r.add("keep", std::to_string(last_kept));
  r.add("directory", s.dir.string());
  for (const auto& a : argv) r.add("argument", a);
}

bool our_temporary(const fs::path& folder) {  // as TemporaryDir makes them
  const char* base = std::getenv("TMPDIR");
  return folder.parent_path() == fs::absolute(base != nullptr && *base != 0 ? base : "/tmp").lexically_normal() &&
         folder.filename().string().rfind("ridge-", 0) == 0;
}

// Under a strict umask what the judge has just written is for its owner alone. By descriptors: no link leads out of
// `name`.
void open_to_others(int parent, const char* name) {
  const int fd = openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  struct stat info {};
  if (fd < 0) return;
  if (fstat(fd, &info) == 0 && (S_ISDIR(info.st_mode) || S_ISREG(info.st_mode))) {
    const bool folder = S_ISDIR(info.st_mode);
    if (info.st_uid == geteuid())
      chmod(fmt::format("/proc/self/fd/{}", fd).c_str(),
            (info.st_mode & 07777) | (folder || (info.st_mode & 0100) != 0 ? 055 : 044));
    const int list = folder ? openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (DIR* entries = list >= 0 ? fdopendir(list) : nullptr; entries != nullptr) {
      while (const dirent* e = readdir(entries))
        if (std::string_view(e->d_name) != "." && std::string_view(e->d_name) != "..") open_to_others(list, e->d_name);
      closedir(entries);
    }
  }
  close(fd);
}

bool in_our_temporary(const fs::path& p) {
  for (fs::path folder = p; folder != folder.root_path() && !folder.empty(); folder = folder.parent_path())
    if (our_temporary(folder)) return true;
  return false;
}

bool open_to_all(mode_t mode) {
  const mode_t needed = S_ISDIR(mode) ? 05 : 04;
  return (mode & needed) == needed;
}

// Root's sandboxed programs run as a user of their own: they need to reach what is theirs.
void hand_over(const Sandbox& s, const std::string& program) {
  for (const auto& p : s.writable)
    if (chown(p.c_str(), job_identity(), job_identity()) != 0)
      throw Error(Exit::environment, fmt::format("cannot hand {} to the sandbox: {}", p.string(), std::strerror(errno)),
                  "set TMPDIR to a folder on a local disk");
  struct stat info {};
  if (stat(program.c_str(), &info) == 0 && (info.st_mode & 05) != 05 && info.st_uid == geteuid())
    chmod(program.c_str(), info.st_mode | 0555);
  if (!s.builder) return;
  for (const auto& p : s.read_only) {
    if (in_our_temporary(p)) {
      open_to_others(AT_FDCWD, p.c_str());
    } else if (beneath(p, root_dir()) && stat(p.c_str(), &info) == 0 && !open_to_all(info.st_mode)) {
      throw Error(Exit::environment,
                  fmt::format("{} can't be read by the user that root's submissions run as", p.string()),
                  fmt::format("chmod -R go+rX {}, or grade as an ordinary user", root_dir().string()));
    }
  }
  if (in_our_temporary(s.dir)) open_to_others(AT_FDCWD, s.dir.c_str());
}

// Without namespaces the other user meets the real folders: can it pass through all above `p`? Our own temporary ones,
// which are for the owner alone, are opened.
bool reachable(const fs::path& p) {
  for (fs::path folder = p.parent_path(); folder != folder.root_path() && !folder.empty();
       folder = folder.parent_path()) {
    struct stat info {};
    if (stat(folder.c_str(), &info) != 0) return errno == ENOENT;
    if ((info.st_mode & 01) != 0 || info.st_uid == job_identity()) continue;
    if (!our_temporary(folder) || chmod(folder.c_str(), (info.st_mode & 07777) | 011) != 0) return false;
  }
  return true;
}

bool all_reachable(const Sandbox& s, const std::string& program) {
  std::vector<fs::path> all = s.read_only;
  all.insert(all.end(), s.writable.begin(), s.writable.end());
  all.insert(all.end(), {fs::path(program), sandbox_helper(), s.dir / "."});
  return std::all_of(all.begin(), all.end(), reachable);
}

int pid_handle(pid_t pid) {
#ifdef SYS_pidfd_open
  return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
#else
  static_cast<void>(pid);
  return -1;
#endif
}

// The host's number of the namespace's first process: {"child-pid": 4711, ...}.
pid_t first_process(int info) {
  std::string text;
  char buffer[256];
  for (ssize_t n; (n = read(info, buffer, sizeof buffer)) != 0;) {
    if (n < 0 && errno != EINTR) break;
    if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
    if (text.find('}') != std::string::npos) break;
  }
  auto at = text.find("\"child-pid\":");
  return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + 12);
}

// Bytes that a process and its children hold in memory.
std::uint64_t memory_beneath(pid_t pid, int depth) {
  std::uint64_t pages = 0, resident = 0;
  std::ifstream statm(fmt::format("/proc/{}/statm", pid));
  statm >> pages >> resident;
  std::uint64_t bytes = resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", pid));
  for (pid_t child; depth < 16 && children >> child;) bytes += memory_beneath(child, depth + 1);
  return bytes;
}

// Seconds that the thread of a process and its children which waited longest for a core has waited (proc(5),
// schedstat).
double waited_beneath(pid_t pid, int depth) {
  double longest = 0;
  std::error_code ignored;
  for (const auto& thread : fs::directory_iterator(fmt::format("/proc/{}/task", pid), ignored)) {
    std::uint64_t ran = 0, waited = 0;
    std::ifstream(thread.path() / "schedstat") >> ran >> waited;
    longest = std::max(longest, static_cast<double>(waited) * 1e-9);
  }
  std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", pid));
  for (pid_t child; depth < 16 && children >> child;) longest = std::max(longest, waited_beneath(child, depth + 1));
  return longest;
}

}  // namespace

struct SandboxRun::State {
  Sandbox description;
  SandboxParts parts;
  std::string program, bwrap, helper;
  std::vector<std::string> argv;
  std::vector<char*> arguments, environment;
  std::unique_ptr<JobGroup> group;
  int config = -1, args = -1;
  int status[2] = {-1, -1}, info[2] = {-1, -1};
  int first = -1;  // handle of the namespace's first process
  bool finished = false;
  int failed = -1;
  pid_t root = 0;  // the first process that counts as the sandbox's

  bool helped() const { return parts.helper; }
  ~State() {
    for (int fd : {config, args, status[0], status[1], info[0], info[1], first})
      if (fd >= 0) close(fd);
  }
};

SandboxRun::SandboxRun(const Sandbox& s, const std::vector<std::string>& argv) : SandboxRun(s, argv, sandbox_parts()) {}

SandboxRun::SandboxRun(const Sandbox& sandbox, const std::vector<std::string>& argv, const SandboxParts& have)
    : s_(std::make_unique<State>()) {
  State& s = *s_;
  s.description = sandbox;
  s.argv = argv;
  s.program = argv.at(0);
  if (s.program.find('/') == std::string::npos) {
    fs::path found = find_program({s.program});
    if (!found.empty()) s.argv[0] = s.program = found.string();
  }
  s.parts = parts_of(sandbox, have);
  if (sandbox.builder) show_toolchain(s.program, s.description);
  s.helper = sandbox_helper().string();
  s.bwrap = find_bwrap().string();
  if (pipe2(s.status, O_CLOEXEC) != 0 || pipe2(s.info, O_CLOEXEC) != 0)
    throw Error(Exit::environment, std::string("cannot make a pipe: ") + std::strerror(errno), "close some programs");
  if (s.parts.limits && s.parts.group)
    s.group = std::make_unique<JobGroup>(sandbox.tasks + 2, sandbox.memory_bytes);  // and bwrap's two
  if (!s.parts.namespaces && s.parts.become_nobody) s.parts.become_nobody = all_reachable(s.description, s.program);
  if (s.parts.become_nobody) hand_over(sandbox, s.program);
  if (s.parts.namespaces) {
    Records args;
    describe_namespaces(s.description, s.parts, s.helper, args);
    s.args = args.file();
  }
  // The orders name the last descriptor to keep, which exec() is told: workers keep their socket.
  if (s.helped()) {
    Records orders;
    describe_orders(s.description, s.parts, s.argv,
                    sandbox.last_kept != 0 ? sandbox.last_kept
                    : sandbox.builder      ? 2
                                           : 3,
                    orders);
    s.config = orders.file();
  }
  static const std::string args_fd = std::to_string(sandbox::kArgsFd);
  auto word = [](const std::string& text) { return const_cast<char*>(text.c_str()); };
  if (s.parts.namespaces) {
    for (const char* a : {"--args", args_fd.c_str(), "--", "/.ridge/sandbox-exec"})
      s.arguments.push_back(const_cast<char*>(a));
    s.arguments.insert(s.arguments.begin(), word(s.bwrap));
  } else if (s.helped()) {
    s.arguments.push_back(word(s.helper));
  } else {
    for (const auto& a : s.argv) s.arguments.push_back(word(a));
  }
  s.arguments.push_back(nullptr);
  for (const auto& e : s.description.environment) s.environment.push_back(word(e));
  if (!on(Defence::clean_environment))
    for (char** e = environ; *e != nullptr; ++e) s.environment.push_back(*e);
  s.environment.push_back(nullptr);
}

SandboxRun::~SandboxRun() { finish(); }

void SandboxRun::exec(int last_kept) {
  State& s = *s_;
  // Clear of the numbers that they must get.
  auto high = [](int fd) { return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 64); };
  int status = high(s.status[1]), config = high(s.config), args = high(s.args), info = high(s.info[1]);
  auto fail = [&](Stage stage) {
    sandbox::Status report{stage, errno};
    if (write(status, &report, sizeof report) < 0) _exit(126);
    _exit(127);
  };
  if (s.group && !s.group->join()) fail(Stage::limits);
  for (int fd = last_kept + 1; fd < sandbox::kStatusFd; ++fd) close(fd);
  dup3(status, sandbox::kStatusFd, s.helped() ? 0 : O_CLOEXEC);
  status = sandbox::kStatusFd;
  if (config >= 0) dup2(config, sandbox::kConfigFd);
  if (args >= 0) dup2(args, sandbox::kArgsFd);
  if (info >= 0) dup2(info, sandbox::kInfoFd);
  if (args < 0) close(sandbox::kInfoFd);
  isolate_child(sandbox::kInfoFd + 1);
  if (chdir(s.parts.namespaces ? "/" : s.description.dir.c_str()) != 0) fail(Stage::directory);
  if (!s.helped()) {
    if (s.description.fixed_addresses) personality(ADDR_NO_RANDOMIZE);
    sandbox::Status ready{Stage::ready, 0};
    if (write(status, &ready, sizeof ready) < 0) _exit(126);
  }
  execve(s.arguments[0], s.arguments.data(), s.environment.data());
  fail(Stage::exec);
  _exit(127);
}

std::string SandboxRun::started(pid_t child) {
  State& s = *s_;
  for (int* fd : {&s.status[1], &s.info[1], &s.config, &s.args}) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
  }
  if (child <= 0) return "cannot start a process";
  s.root = child;
  if (s.parts.namespaces)
    if (pid_t first = first_process(s.info[0]); first > 0) {
      s.first = pid_handle(first);
      s.root = first;
    }
  bool ready = false;
  sandbox::Status status{};
  for (;;) {
    ssize_t n = read(s.status[0], &status, sizeof status);
    if (n < 0 && errno == EINTR) continue;
    if (n != sizeof status) break;
    if (status.stage == Stage::ready) {
      ready = true;
      continue;
    }
    s.failed = static_cast<int>(status.stage);
    static const char* const kStages[] = {"starting",
                                          "reading its orders",
                                          "giving up root",
                                          "taking on limits",
                                          "taking on Landlock",
                                          "installing its system call filter",
                                          "entering its folder",
                                          "starting the program"};
    return fmt::format("the sandbox failed at {}: {}", kStages[static_cast<int>(status.stage)],
                       std::strerror(status.error));
  }
  return ready ? "" : "the sandbox could not be set up";
}

std::string SandboxRun::finish() {
  State& s = *s_;
  if (s.finished) return {};
  s.finished = true;
  std::string left;
  if (s.first >= 0) {
    // Its end is the end of every process in it; nothing is mounted any more then.
    pollfd p{s.first, POLLIN, 0};
    if (poll(&p, 1, 10000) <= 0) left += "processes of the sandbox; ";
  }
  if (s.group && !s.group->end()) left += "a control group with processes; ";
  if (!left.empty()) {
    std::lock_guard lock(leftovers_mutex);
    all_leftovers += left;
  }
  return left;
}

bool SandboxRun::over_memory() const {
  const State& s = *s_;
  if (!s.parts.limits || (s.group && s.group->limits_memory())) return false;  // the kernel looks itself
  return s.root > 0 && memory_beneath(s.root, 0) > s.description.memory_bytes;
}

std::uint64_t SandboxRun::memory() const { return s_->root > 0 ? memory_beneath(s_->root, 0) : 0; }

double SandboxRun::waited_seconds() const { return s_->root > 0 ? waited_beneath(s_->root, 0) : 0; }

int SandboxRun::failed_stage() const { return s_->failed; }

int SandboxRun::own_status(int status) const {
  // bwrap ends with 128 + n where signal n ended the program.
  if (s_->parts.namespaces && WIFEXITED(status) && WEXITSTATUS(status) > 128 && WEXITSTATUS(status) < 128 + 65)
    return WEXITSTATUS(status) - 128;
  return status;
}

std::string sandbox_leftovers() {
  std::lock_guard lock(leftovers_mutex);
  return all_leftovers;
}

}  // namespace ridge
