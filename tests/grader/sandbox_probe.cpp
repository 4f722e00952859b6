// What a hostile program tries from inside a sandbox. Exit code 0: denied. 1: it worked, with what it got on stdout.
#include <dirent.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

using Arguments = std::vector<std::string>;
using Attack = int (*)(const Arguments&);

int verdict(bool worked) {
  if (!worked) std::printf("denied: %s\n", std::strerror(errno));
  if (worked) std::printf("it worked\n");
  return worked ? 1 : 0;
}

int read_file(const Arguments& a) {
  int fd = open(a.at(0).c_str(), O_RDONLY);
  char text[64];
  return verdict(fd >= 0 && read(fd, text, sizeof text) > 0);
}
int list_folder(const Arguments& a) {
  DIR* dir = opendir(a.at(0).c_str());
  int names = 0;
  while (dir != nullptr)
    if (dirent* e = readdir(dir); e == nullptr)
      break;
    else if (e->d_name[0] != '.')
      ++names;
  return verdict(names > 0);
}
int write_file(const Arguments& a) {
  int fd = open(a.at(0).c_str(), O_WRONLY | O_CREAT, 0644);
  return verdict(fd >= 0 && write(fd, "x", 1) == 1);
}
int open_socket(const Arguments& a) { return verdict(socket(std::atoi(a.at(0).c_str()), SOCK_STREAM, 0) >= 0); }
int netlink(const Arguments&) { return verdict(socket(AF_NETLINK, SOCK_RAW, 0) >= 0); }
int connect_home(const Arguments& a) {  // to a port on this machine's loopback, by whatever socket there is
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<unsigned short>(std::atoi(a.at(0).c_str())));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return verdict(fd >= 0 && connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0);
}
int see_others(const Arguments&) {  // the sandbox's own first process may be seen
  DIR* proc = opendir("/proc");
  int others = 0;
  while (proc != nullptr) {
    dirent* e = readdir(proc);
    if (e == nullptr) break;
    int pid = std::atoi(e->d_name);
    if (pid > 1 && pid != getpid()) ++others;
  }
  std::printf("%d others\n", others);
  return others > 0 ? 1 : 0;
}
int stop_parent(const Arguments& a) {
  int pid = a.empty() ? getppid() : std::atoi(a[0].c_str());
  if (syscall(SYS_kill, pid, SIGSTOP) != 0 && syscall(SYS_tgkill, pid, pid, SIGSTOP) != 0) return verdict(false);
  usleep(50000);
  std::string text(4096, 0);
  int fd = open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY);
  ssize_t n = read(fd, text.data(), text.size());
  auto at = n > 0 ? text.rfind(") ") : std::string::npos;
  bool stopped = at != std::string::npos && text[at + 2] == 'T';
  if (stopped) syscall(SYS_kill, pid, SIGCONT);
  return verdict(stopped);
}
int trace(const Arguments& a) { return verdict(ptrace(PTRACE_ATTACH, std::atoi(a.at(0).c_str()), 0, 0) == 0); }
int trace_me(const Arguments&) { return verdict(ptrace(PTRACE_TRACEME, 0, 0, 0) == 0); }
int read_memory(const Arguments& a) {
  char here[16], there[16];
  iovec to{here, sizeof here}, from{there, sizeof there};
  int pid = a.empty() ? getpid() : std::atoi(a[0].c_str());
  return verdict(process_vm_readv(pid, &to, 1, &from, 1, 0) > 0);
}
int mount_something(const Arguments&) { return verdict(mount("none", "/tmp", "tmpfs", 0, nullptr) == 0); }
int unshare_user(const Arguments&) { return verdict(unshare(CLONE_NEWUSER) == 0); }
int clone_user(const Arguments&) {
  long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid == 0) _exit(0);
  return verdict(pid > 0);
}
int clone3_user(const Arguments&) {
  struct {
    unsigned long long flags, pidfd, child, parent, signal, stack, size, tls;
  } a{};
  a.flags = CLONE_NEWUSER;
  a.signal = SIGCHLD;
  long pid = syscall(SYS_clone3, &a, sizeof a);
  if (pid == 0) _exit(0);
  return verdict(pid > 0);
}
int forks(const Arguments& a) {  // worked: more than the number given
  int wanted = std::atoi(a.at(0).c_str()), made = 0;
  for (; made < wanted; ++made) {
    pid_t pid = fork();
    if (pid < 0) break;
    if (pid == 0) {
      pause();
      _exit(0);
    }
  }
  std::printf("%d processes\n", made);
  return made == wanted ? 1 : 0;
}
int threads(const Arguments& a) {
  int wanted = std::atoi(a.at(0).c_str()), made = 0;
  for (; made < wanted; ++made) {
    try {
      std::thread([] { pause(); }).detach();
    } catch (const std::exception&) {
      break;
    }
  }
  std::printf("%d threads\n", made);
  std::fflush(stdout);
  _exit(made == wanted ? 1 : 0);
}
int take_memory(const Arguments& a) {  // MiB
  std::size_t wanted = std::strtoull(a.at(0).c_str(), nullptr, 10), step = 16 << 20;
  for (std::size_t at = 0; at < wanted << 20; at += step) {
    void* p = mmap(nullptr, step, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return verdict(false);
    std::memset(p, 1, step);
  }
  return verdict(true);
}
int fill(const Arguments& a) {  // a folder with files, until so many MiB are in it
  std::vector<char> block(1 << 20, 1);
  long wanted = std::atol(a.at(1).c_str());
  signal(SIGXFSZ, SIG_IGN);
  for (long at = 0; at < wanted; ++at) {
    std::string name = a.at(0) + "/fill" + std::to_string(at / 32);
    int fd = open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || write(fd, block.data(), block.size()) != static_cast<ssize_t>(block.size())) return verdict(false);
    close(fd);
  }
  return verdict(true);
}
int big_file(const Arguments& a) {
  int fd = open((a.at(0) + "/big").c_str(), O_WRONLY | O_CREAT, 0600);
  signal(SIGXFSZ, SIG_IGN);
  return verdict(fd >= 0 && ftruncate(fd, std::atol(a.at(1).c_str())) == 0);
}
int orphan(const Arguments&) {  // survives its parent and its session
  pid_t pid = fork();
  if (pid < 0) return verdict(false);
  if (pid == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; ++fd) dup2(null, fd);
    execl("/bin/sleep", "ridge-orphan", "987654", nullptr);
    sleep(60);
    _exit(0);
  }
  waitpid(pid, nullptr, 0);
  return verdict(true);
}
int shared_memory(const Arguments& a) {
  int fd = shm_open(a.at(0).c_str(), O_RDWR | O_CREAT, 0666);
  return verdict(fd >= 0 && ftruncate(fd, 4096) == 0);
}
int sysv_memory(const Arguments&) { return verdict(shmget(0x51D6E, 4096, IPC_CREAT | 0666) >= 0); }
int descriptors(const Arguments& a) {  // beyond the number given
  int found = 0;
  for (int fd = std::atoi(a.at(0).c_str()) + 1; fd < 65536; ++fd)
    if (fcntl(fd, F_GETFD) >= 0) {
      std::printf("descriptor %d\n", fd);
      ++found;
    }
  return found > 0 ? 1 : 0;
}
int variable(const Arguments& a) {
  const char* value = std::getenv(a.at(0).c_str());
  if (value != nullptr) std::printf("%s\n", value);
  return value != nullptr ? 1 : 0;
}
int parent_says(const Arguments& a) {  // in the parent's command line
  std::string text(65536, 0);
  int fd = open(("/proc/" + std::to_string(getppid()) + "/cmdline").c_str(), O_RDONLY);
  ssize_t n = read(fd, text.data(), text.size());
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return verdict(text.find(a.at(0)) != std::string::npos);
}
int type_into_terminal(const Arguments&) {
  int fd = open("/dev/tty", O_RDWR);
  char c = '\n';
  // The filter looks at 32 bits, as the kernel does.
  bool worked = ioctl(fd < 0 ? 0 : fd, TIOCSTI, &c) == 0 || syscall(SYS_ioctl, 0, TIOCSTI | (1ul << 32), &c) == 0;
  return errno == EPERM ? verdict(worked) : 1;  // another error: the filter did not look
}
int io_uring(const Arguments&) {
  char parameters[120] = {};
  return verdict(syscall(SYS_io_uring_setup, 4, parameters) >= 0);
}
int bpf(const Arguments&) {
  char attributes[128] = {};
  long r = syscall(SYS_bpf, 0, attributes, sizeof attributes);
  return verdict(r >= 0 || errno == EINVAL);
}
int perf(const Arguments&) {
  char attributes[128] = {};
  attributes[4] = 112;
  long r = syscall(SYS_perf_event_open, attributes, 0, -1, -1, 0);
  return verdict(r >= 0 || errno == EINVAL || errno == ENOENT);
}
int keys(const Arguments&) { return verdict(syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, -4, 1) >= 0); }
int fault_handler(const Arguments&) { return verdict(syscall(SYS_userfaultfd, 1) >= 0); }
int new_personality(const Arguments&) { return verdict(personality(ADDR_NO_RANDOMIZE) >= 0); }
int trap_writes(const Arguments&) {
  long r = syscall(SYS_seccomp, 1, 0, nullptr);
  return verdict(r == 0 || errno == EFAULT);
}
int raise_limit(const Arguments&) {
  rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
  return verdict(setrlimit(RLIMIT_FSIZE, &unlimited) == 0);
}
int run_shell(const Arguments&) {
  execl("/bin/sh", "sh", "-c", "exit 1", nullptr);
  return verdict(false);
}
int be_root(const Arguments&) { return verdict(geteuid() == 0 || setuid(0) == 0); }
int hang(const Arguments&) {
  for (int s = 1; s < 32; ++s) signal(s, SIG_IGN);
  for (;;) pause();
}
int flood(const Arguments&) {
  std::string line(4096, 'x');
  for (;;)
    if (write(1, line.data(), line.size()) < 0) return 0;
}
// What must work.
int ordinary(const Arguments&) {
  int sum = 0;
  std::thread([&] { sum = 1; }).join();
  int fd = memfd_create("records", 0);
  int pair[2];
  bool ok = sum == 1 && fd >= 0 && write(fd, "x", 1) == 1 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0;
  std::FILE* f = std::fopen("/tmp/note", "w");
  ok = ok && f != nullptr && std::fputs("x", f) >= 0 && std::fclose(f) == 0;
  ok = ok &&
       mmap(nullptr, std::size_t{1} << 38, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED;
  std::printf("address %p\n", static_cast<void*>(std::malloc(1 << 20)));
  return ok ? 0 : 1;
}
int crash(const Arguments&) { std::abort(); }

const std::map<std::string, Attack> kAttacks = {{"read", read_file},
                                                {"list", list_folder},
                                                {"write", write_file},
                                                {"socket", open_socket},
                                                {"netlink", netlink},
                                                {"connect", connect_home},
                                                {"see-others", see_others},
                                                {"stop", stop_parent},
                                                {"trace", trace},
                                                {"trace-me", trace_me},
                                                {"read-memory", read_memory},
                                                {"mount", mount_something},
                                                {"unshare", unshare_user},
                                                {"clone-user", clone_user},
                                                {"clone3-user", clone3_user},
                                                {"forks", forks},
                                                {"threads", threads},
                                                {"memory", take_memory},
                                                {"fill", fill},
                                                {"big-file", big_file},
                                                {"orphan", orphan},
                                                {"shm", shared_memory},
                                                {"sysv", sysv_memory},
                                                {"descriptors", descriptors},
                                                {"variable", variable},
                                                {"parent-says", parent_says},
                                                {"terminal", type_into_terminal},
                                                {"io-uring", io_uring},
                                                {"bpf", bpf},
                                                {"perf", perf},
                                                {"keys", keys},
                                                {"fault-handler", fault_handler},
                                                {"personality", new_personality},
                                                {"trap-writes", trap_writes},
                                                {"raise-limit", raise_limit},
                                                {"shell", run_shell},
                                                {"root", be_root},
                                                {"hang", hang},
                                                {"flood", flood},
                                                {"ordinary", ordinary},
                                                {"crash", crash}};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || kAttacks.count(argv[1]) == 0) return 2;
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  return kAttacks.at(argv[1])(Arguments(argv + 2, argv + argc));
}
