#include "grader/sandbox/sandbox_filter.hpp"

#include "grader/base/defence.hpp"
#include "grader/base/error.hpp"

#ifdef RIDGE_HAVE_SECCOMP
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#endif

namespace ridge {

#ifdef RIDGE_HAVE_SECCOMP

namespace {

// The system calls that a worker needs: memory, threads, time, files by descriptor and name, its socket, and the GPU's
// ioctls. All others do not exist (ENOSYS): sockets, ptrace, process_vm_*, mounts, namespaces, io_uring, bpf,
// perf_event_open, keys, userfaultfd, personality, SysV and POSIX message queues and shared memory, and calls of future
// kernels.
constexpr const char* kWorkerCalls[] = {
    // memory
    "brk", "mmap", "mmap2", "munmap", "mprotect", "mremap", "madvise", "msync", "mincore", "mlock", "mlock2", "munlock",
    "mlockall", "munlockall", "membarrier", "memfd_create", "get_mempolicy", "set_mempolicy", "mbind", "pkey_alloc",
    "pkey_free", "pkey_mprotect",
    // threads, signals and the end
    "futex", "futex_waitv", "futex_time64", "set_robust_list", "get_robust_list", "rseq", "set_tid_address", "exit",
    "exit_group", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigtimedwait", "rt_sigsuspend",
    "sigaltstack", "sigreturn", "tgkill", "sched_yield", "sched_getaffinity", "sched_setaffinity", "sched_getparam",
    "sched_getscheduler", "sched_get_priority_max", "sched_get_priority_min", "restart_syscall", "arch_prctl",
    "execve",  // of the worker itself, by ridge-sandbox-exec; Landlock says what else can run
    // time
    "clock_gettime", "clock_getres", "clock_nanosleep", "gettimeofday", "time", "nanosleep", "times", "timer_create",
    "timer_settime", "timer_gettime", "timer_delete", "timer_getoverrun", "timerfd_create", "timerfd_settime",
    "timerfd_gettime", "setitimer", "getitimer", "alarm", "pause",
    // about itself
    "getpid", "gettid", "getppid", "getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups",
    "getpgrp", "getpgid", "getsid", "getpriority", "uname", "sysinfo", "getrlimit", "setrlimit", "getrusage", "getcpu",
    "umask", "capget", "getrandom", "wait4", "waitid",
    // descriptors
    "read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "preadv2", "pwritev2", "lseek",
    "_llseek", "close", "close_range", "dup", "dup2", "dup3", "fcntl", "fcntl64", "flock", "fsync", "fdatasync",
    "ftruncate", "ftruncate64", "fallocate", "fadvise64", "readahead", "fstat", "fstat64", "fstatfs", "getdents",
    "getdents64", "fchmod", "fchdir", "pipe", "pipe2", "eventfd", "eventfd2", "poll", "ppoll", "select", "pselect6",
    "_newselect", "epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2",
    // files: which ones, the file system and Landlock say
    "open", "openat", "creat", "stat", "lstat", "stat64", "lstat64", "newfstatat", "fstatat64", "statx", "access",
    "faccessat", "faccessat2", "readlink", "readlinkat", "statfs", "getcwd", "chdir", "mkdir", "mkdirat", "rmdir",
    "unlink", "unlinkat", "rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "truncate",
    "truncate64", "chmod", "fchmodat", "utimensat", "utime", "utimes",
    // the inherited socket
    "sendmsg", "recvmsg", "sendto", "recvfrom", "sendmmsg", "recvmmsg", "send", "recv", "shutdown", "getsockopt",
    "getsockname", "getpeername"};

// A compiler driver starts other programs and copies files.
constexpr const char* kBuilderCalls[] = {"fork",     "vfork",           "kill",      "setpgid",    "setsid",
                                         "execveat", "copy_file_range", "sendfile",  "splice",     "tee",
                                         "chown",    "fchown",          "lchown",    "fchownat",   "setpriority",
                                         "getxattr", "lgetxattr",       "fgetxattr", "pidfd_open", "pidfd_send_signal"};

constexpr scmp_datum_t kNamespaces = 0x7E020000;  // CLONE_NEW* of clone(2); CLONE_NEWTIME is known to clone3 only

class Filter {
 public:
  explicit Filter(std::uint32_t otherwise) : context_(seccomp_init(otherwise)) {
    must(context_ != nullptr ? 0 : -ENOMEM);
    seccomp_attr_set(context_, SCMP_FLTATR_CTL_NNP, 0);
    seccomp_attr_set(context_, SCMP_FLTATR_CTL_OPTIMIZE, 2);  // a tree: the emulator's threads make many calls
  }
  ~Filter() { seccomp_release(context_); }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  // Names that this machine does not have are passed over.
  void allow(const char* name) {
    int number = seccomp_syscall_resolve_name(name);
    if (number >= 0) must(seccomp_rule_add(context_, SCMP_ACT_ALLOW, number, 0));
  }
  void allow(int number, scmp_arg_cmp argument) {
    must(seccomp_rule_add(context_, SCMP_ACT_ALLOW, number, 1, argument));
  }
  void deny(int number, int error) { must(seccomp_rule_add(context_, SCMP_ACT_ERRNO(error), number, 0)); }
  void deny(int number, int error, scmp_arg_cmp argument) {
    must(seccomp_rule_add(context_, SCMP_ACT_ERRNO(error), number, 1, argument));
  }

  std::string program() const {
    int fd = memfd_create("filter", MFD_CLOEXEC);
    if (fd < 0) must(-errno);
    int result = seccomp_export_bpf(context_, fd);
    std::string bytes(static_cast<std::size_t>(lseek(fd, 0, SEEK_END)), 0);
    bool whole = pread(fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
    close(fd);
    must(whole ? result : -EIO);
    return bytes;
  }

 private:
  static void must(int result) {
    if (result < 0)
      throw Error(Exit::environment, "cannot make the sandbox's system call filter: " + std::to_string(result),
                  "report this with the version of libseccomp");
  }
  scmp_filter_ctx context_;
};

constexpr scmp_arg_cmp argument(unsigned index, scmp_datum_t mask, scmp_datum_t value) {
  return {index, SCMP_CMP_MASKED_EQ, mask, value};
}
constexpr scmp_datum_t kAll32 = 0xFFFFFFFF;  // the kernel reads 32 bits of these arguments: so must a filter

// Everything that is not on the lists is refused.
std::string list(Calls calls) {
  const bool processes = calls == Calls::builder;
  Filter f(SCMP_ACT_ERRNO(ENOSYS));
  for (const char* name : kWorkerCalls) f.allow(name);
  if (processes)
    for (const char* name : kBuilderCalls) f.allow(name);
  f.allow(SCMP_SYS(ioctl), argument(1, 0, 0));  // see refusals()
  f.allow(SCMP_SYS(socketpair), argument(0, kAll32, AF_UNIX));
  // clone3 passes its flags in memory, where a filter can't read: ENOSYS sends the C library back to clone.
  if (processes)
    f.allow(SCMP_SYS(clone), argument(0, kNamespaces, 0));
  else
    f.allow(SCMP_SYS(clone), argument(0, kNamespaces | CLONE_THREAD, CLONE_THREAD));
  f.allow(SCMP_SYS(prlimit64), argument(0, kAll32, 0));  // its own
  for (int option : {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_SET_PDEATHSIG, PR_GET_SECCOMP, PR_CAPBSET_READ,
                     PR_SET_TIMERSLACK, PR_GET_NO_NEW_PRIVS, 0x53564d41 /* PR_SET_VMA: names of mappings */})
    f.allow(SCMP_SYS(prctl), argument(0, kAll32, static_cast<scmp_datum_t>(option)));
  // A worker seals its code, and lets nobody add a filter afterwards: runtime/worker/sealed_code.cpp.
  if (calls == Calls::worker && on(Defence::sealed_code)) f.allow(SCMP_SYS(prctl), argument(0, kAll32, PR_SET_SECCOMP));
  if (calls == Calls::gpu_worker || calls == Calls::ranks) {  // names of UNIX sockets are the network namespace's own
    f.allow(SCMP_SYS(socket), argument(0, kAll32, AF_UNIX));
    if (calls == Calls::ranks)  // which has the loopback interface only
      for (int family : {AF_INET, AF_INET6, AF_NETLINK})
        f.allow(SCMP_SYS(socket), argument(0, kAll32, static_cast<scmp_datum_t>(family)));
    for (const char* name : {"bind", "listen", "accept", "accept4", "connect", "setsockopt"}) f.allow(name);
  } else {
    f.deny(SCMP_SYS(socket), EACCES);  // an error that programs expect
  }
  return f.program();
}

// Single uses of calls that are allowed otherwise.
std::string refusals() {
  Filter f(SCMP_ACT_ALLOW);
  f.deny(SCMP_SYS(ioctl), EPERM, argument(1, kAll32, TIOCSTI));  // types into a terminal
  f.deny(SCMP_SYS(ioctl), EPERM, argument(1, kAll32, 0x541C));   // TIOCLINUX: pastes into one
  f.deny(SCMP_SYS(ioctl), EPERM, argument(1, kAll32, TIOCSETD));
  f.deny(SCMP_SYS(ioctl), EPERM, argument(1, kAll32, TIOCCONS));
  return f.program();
}

}  // namespace

std::vector<std::string> system_call_filters(Calls calls) {
  static std::mutex mutex;
  static std::vector<std::string> made[4];
  std::lock_guard lock(mutex);
  auto& filters = made[static_cast<int>(calls)];
  if (filters.empty()) filters = {refusals(), list(calls)};
  return filters;
}

#else

std::vector<std::string> system_call_filters(Calls) { return {}; }

#endif

}  // namespace ridge
