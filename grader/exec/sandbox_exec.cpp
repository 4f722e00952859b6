// ridge-sandbox-exec: the last step into a sandbox. Reads its orders from a memory file (sandbox_config.hpp), takes on
// limits, identity, Landlock and the seccomp filter in this order, and becomes the program. Linked static: it runs
// where no library is shown. It is the judge's own code, so it stops at the first order that it can't carry out.
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>

#include "grader/sandbox/sandbox_config.hpp"

extern char** environ;

namespace {

using namespace ridge::sandbox;

[[noreturn]] void fail(Stage stage, int error = errno) {
  Status status{stage, error};
  ssize_t ignored = write(kStatusFd, &status, sizeof status);
  _exit(ignored == sizeof status ? 126 : 127);
}

// Landlock's rights by the version of the kernel's interface that brought them (linux/landlock.h; headers may be older
// than the kernel).
constexpr std::uint64_t kExecute = 1 << 0, kWriteFile = 1 << 1, kReadFile = 1 << 2, kReadDir = 1 << 3;
constexpr std::uint64_t kRefer = 1 << 13, kTruncate = 1 << 14, kIoctl = 1 << 15;
constexpr std::uint64_t kMakeChar = 1 << 6, kMakeSock = 1 << 9, kMakeFifo = 1 << 10, kMakeBlock = 1 << 11;
constexpr std::uint64_t kVersion1 = (1 << 13) - 1;

struct Ruleset {
  std::uint64_t fs = kVersion1, net = 0, scoped = 0;
};

class Landlock {
 public:
  // `network`: TCP stays allowed; the namespace says how far it goes.
  explicit Landlock(bool network) {
    long abi = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 1) fail(Stage::landlock);
    Ruleset all;
    std::size_t size = 8;
    if (abi >= 2) all.fs |= kRefer;
    if (abi >= 3) all.fs |= kTruncate;
    if (abi >= 4) {
      all.net = network ? 0 : 3;  // TCP: bind, connect
      size = 16;
    }
    if (abi >= 5) all.fs |= kIoctl;
    if (abi >= 6) {
      all.scoped = 3;  // abstract UNIX sockets, signals
      size = 24;
    }
    handled_ = all.fs;
    fd_ = static_cast<int>(syscall(SYS_landlock_create_ruleset, &all, size, 0));
    if (fd_ < 0) fail(Stage::landlock);
  }

  void allow(const char* path, std::uint64_t rights) {
    int at = open(path, O_PATH | O_CLOEXEC);
    if (at < 0) {
      if (errno == ENOENT || errno == EACCES) return;  // not shown: nothing to allow
      fail(Stage::landlock);
    }
    struct stat info {};
    if (fstat(at, &info) != 0) fail(Stage::landlock);
    if (!S_ISDIR(info.st_mode)) rights &= kExecute | kReadFile | kWriteFile | kTruncate | kIoctl;
    landlock_path_beneath_attr rule{};
    rule.allowed_access = rights & handled_;
    rule.parent_fd = at;
    if (syscall(SYS_landlock_add_rule, fd_, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) fail(Stage::landlock);
    close(at);
  }

  void enforce() {
    if (syscall(SYS_landlock_restrict_self, fd_, 0) != 0) fail(Stage::landlock);
    close(fd_);
  }

 private:
  int fd_ = -1;
  std::uint64_t handled_ = 0;
};

void install_filter(const char* bytes, std::size_t size) {
  sock_fprog program{};
  program.len = static_cast<unsigned short>(size / sizeof(sock_filter));
  program.filter = reinterpret_cast<sock_filter*>(const_cast<char*>(bytes));
  // SPEC_ALLOW: without it older kernels slow down all speculation in a filtered process.
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0) return;
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) fail(Stage::system_calls);
}

// Gives up root for good, and with it all capabilities.
void become(unsigned id) {
  if (setgroups(0, nullptr) != 0 || setresgid(id, id, id) != 0 || setresuid(id, id, id) != 0) fail(Stage::identity);
}

// Root drops its capabilities, too, where it could not become another user. An exec must not bring them back (and with
// them address randomisation).
void drop_capabilities() {
  prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED, 0, 0, 0);
  for (unsigned long c = 0; prctl(PR_CAPBSET_DROP, c, 0, 0, 0) == 0; ++c) {
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2]{};
  if (syscall(SYS_capset, &header, none) != 0) fail(Stage::identity);
}

bool is(const char* key, const char* name) { return std::strcmp(key, name) == 0; }

struct Filters {
  static constexpr int kMost = 4;
  const char* bytes[kMost];
  std::size_t size[kMost];
  int count = 0;
  void install() const {
    for (int i = 0; i < count; ++i) install_filter(bytes[i], size[i]);
  }
};

// Several programs in one sandbox: each rank's socket and output come over kSocket; afterwards that is told who has
// ended. This process has no filter, so nobody may look into it.
[[noreturn]] void run_ranks(int ranks, char** arguments, int count, const Filters& filters) {
  constexpr int kMostRanks = 64;
  if (ranks < 1 || ranks > kMostRanks) _exit(126);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  close(kStatusFd);  // started: the judge hands out the sockets now
  alignas(cmsghdr) static char control[CMSG_SPACE(2 * kMostRanks * sizeof(int))];
  char byte = 0;
  iovec part{&byte, 1};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(kRanksFd, &message, MSG_CMSG_CLOEXEC) != 1) _exit(126);
  const cmsghdr* head = CMSG_FIRSTHDR(&message);
  const std::size_t bytes = 2 * static_cast<std::size_t>(ranks) * sizeof(int);
  if (head == nullptr || head->cmsg_type != SCM_RIGHTS || head->cmsg_len != CMSG_LEN(bytes)) _exit(126);
  static int given[2 * kMostRanks];
  std::memcpy(given, CMSG_DATA(head), bytes);
  fcntl(kRanksFd, F_SETFD, FD_CLOEXEC);
  static pid_t pids[kMostRanks];
  const pid_t parent = getpid();
  for (int r = 0; r < ranks; ++r) {
    pids[r] = fork();
    if (pids[r] < 0) _exit(126);
    if (pids[r] > 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent) _exit(126);
    const int socket = fcntl(given[r], F_DUPFD_CLOEXEC, 64 + 2 * kMostRanks);
    dup2(given[ranks + r], 1);
    dup2(given[ranks + r], 2);
    dup2(socket, kRanksFd);  // not the parent's any more
    static char rank[16], all[16];
    std::snprintf(rank, sizeof rank, "%d", r);
    std::snprintf(all, sizeof all, "%d", ranks);
    static char word[] = "rank", of[] = "of";
    for (char* a : {word, rank, of, all}) arguments[count++] = a;
    arguments[count] = nullptr;
    filters.install();
    execve(arguments[0], arguments, environ);
    _exit(127);
  }
  for (int i = 0; i < 2 * ranks; ++i) close(given[i]);
  int status = 0, failed = 0;
  for (pid_t pid; (pid = wait(&status)) > 0;)
    for (int r = 0; r < ranks; ++r)
      if (pids[r] == pid) {
        const RankEnd end{r, status};
        if (send(kRanksFd, &end, sizeof end, MSG_NOSIGNAL) < 0) _exit(126);
        if (status != 0) failed = 1;
      }
  _exit(failed);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && is(argv[1], "--null")) return 0;  // a program that does nothing, for probes and benchmarks
  struct stat info {};
  if (fstat(kConfigFd, &info) != 0) return 126;
  auto size = static_cast<std::size_t>(info.st_size);
  auto* text = static_cast<char*>(mmap(nullptr, size + 1, PROT_READ, MAP_PRIVATE, kConfigFd, 0));
  if (text == MAP_FAILED) fail(Stage::config);
  fcntl(kStatusFd, F_SETFD, FD_CLOEXEC);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);

  constexpr int kMaxArguments = 4096, kMoreArguments = 8;
  static char* arguments[kMaxArguments + kMoreArguments];
  static Filters filters;
  int count = 0, last_kept = 2, ranks = 0;
  const char* dir = "/";
  Landlock* landlock = nullptr;
  alignas(Landlock) static char room[sizeof(Landlock)];

  for (char *at = text, *end = text + size; at < end;) {
    const char* key = at;
    at += std::strlen(at) + 1;
    char* value = at;
    if (is(key, "filter")) {
      std::size_t bytes = std::strtoull(value, nullptr, 10);
      at += std::strlen(at) + 1;
      if (filters.count == Filters::kMost) fail(Stage::config, E2BIG);
      filters.bytes[filters.count] = at;
      filters.size[filters.count++] = bytes;
      at += bytes;
      continue;
    }
    at += std::strlen(at) + 1;
    if (is(key, "argument")) {
      if (count == kMaxArguments) fail(Stage::config, E2BIG);
      arguments[count++] = value;
    } else if (is(key, "keep")) {
      last_kept = std::atoi(value);
    } else if (is(key, "directory")) {
      dir = value;
    } else if (is(key, "identity")) {
      become(static_cast<unsigned>(std::atoi(value)));
    } else if (is(key, "open-to-all")) {
      chmod(value, 01777);  // a tmpfs of the sandbox; made by root where the program runs as another
    } else if (is(key, "limit")) {
      char* rest = nullptr;
      int resource = static_cast<int>(std::strtol(value, &rest, 10));
      rlimit old{}, limit{};
      limit.rlim_cur = limit.rlim_max = std::strtoull(rest, nullptr, 10);
      getrlimit(static_cast<__rlimit_resource_t>(resource), &old);
      if (limit.rlim_max > old.rlim_max) limit.rlim_cur = limit.rlim_max = old.rlim_max;  // already tighter
      if (setrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) fail(Stage::limits);
    } else if (is(key, "fixed-addresses")) {
      if (personality(ADDR_NO_RANDOMIZE) < 0) fail(Stage::limits);
    } else if (is(key, "ranks")) {
      ranks = std::atoi(value);
    } else if (is(key, "landlock")) {
      landlock = new (room) Landlock(is(value, "network"));
    } else if (landlock != nullptr && is(key, "see")) {
      landlock->allow(value, kReadFile | kReadDir);
    } else if (landlock != nullptr && is(key, "run")) {
      landlock->allow(value, kReadFile | kReadDir | kExecute);
    } else if (landlock != nullptr && is(key, "device")) {
      landlock->allow(value, kReadFile | kWriteFile | kIoctl);
    } else if (landlock != nullptr && is(key, "write")) {
      landlock->allow(value, ~(kExecute | kMakeChar | kMakeBlock | kMakeSock | kMakeFifo | kIoctl));
    }
  }
  if (chdir(dir) != 0) fail(Stage::directory);
  drop_capabilities();
  if (landlock != nullptr) landlock->enforce();
  arguments[count] = nullptr;
  // All but the status' descriptor, which closes itself with the exec.
  for (int fd = last_kept + 1; fd < kStatusFd; ++fd) close(fd);
  syscall(SYS_close_range, kConfigFd, ~0u, 0);
  for (int fd = kConfigFd; fd < 64; ++fd) close(fd);
  Status ready{Stage::ready, 0};
  if (write(kStatusFd, &ready, sizeof ready) != sizeof ready) _exit(126);
  if (ranks > 0) run_ranks(ranks, arguments, count, filters);
  filters.install();
  execve(arguments[0], arguments, environ);
  fail(Stage::exec);
}
