// An honest answer to `scale`, from a submission that looks for the judge's secrets wherever its process gets to. The test
// writes needles.inc (what to look for, each byte xor kMask, so that no plain copy lies in the program itself) and the
// macros PLANT_MEMORY and IN_REPLAY. Each find is printed as "FOUND <name> in <place>".
#include <dirent.h>
#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "judged.hpp"

namespace {

constexpr unsigned char kMask = 0xA5;
struct Needle {
  const char* name;
  std::size_t bytes;  // at least 8
  unsigned char masked[160];
};
const Needle kNeedles[] = {
#include "needles.inc"
};
constexpr long kStart =
#include "start.inc"
    ;

std::set<std::string> told;
std::size_t looked_at, maps_seen, files_read, files_seen, descriptors, processes, segments;

void found(const char* name, const std::string& where) {
#ifdef IN_REPLAY
  std::abort();  // the only sign that this process can give
#endif
  if (told.insert(name + where).second) std::printf("FOUND %s in %s\n", name, where.c_str());
}

// One pass over the bytes for all needles, by their first two. Not instrumented, for speed.
__attribute__((no_sanitize("thread"))) void look(const unsigned char* data, std::size_t n, const std::string& where) {
  static std::vector<const Needle*> by_start[65536];
  static bool starts[65536];
  static const bool sorted = [] {
    for (const Needle& k : kNeedles) {
      by_start[(k.masked[0] ^ kMask) | (k.masked[1] ^ kMask) << 8].push_back(&k);
      starts[(k.masked[0] ^ kMask) | (k.masked[1] ^ kMask) << 8] = true;
    }
    return true;
  }();
  (void)sorted;
  looked_at += n;
  for (std::size_t i = 0; i + 8 <= n; ++i) {
    if (!starts[data[i] | data[i + 1] << 8]) continue;
    for (const Needle* k : by_start[data[i] | data[i + 1] << 8]) {
      std::size_t same = 0;
      while (same < k->bytes && i + same < n && (data[i + same] ^ kMask) == k->masked[same]) ++same;
      if (same == k->bytes) found(k->name, where);
    }
  }
}

// A file from its beginning, as far as it can be read. Pieces overlap, so that nothing hides at an edge.
bool look_into(int fd, const std::string& where, std::size_t most = 256u << 20) {
  static std::vector<unsigned char> piece(1 << 20);
  std::size_t kept = 0, all = 0;
  for (;;) {
    ssize_t n = read(fd, piece.data() + kept, piece.size() - kept);
    if (n <= 0) break;
    all += static_cast<std::size_t>(n);
    const std::size_t have = kept + static_cast<std::size_t>(n);
    look(piece.data(), have, where);
    kept = have < 160 ? have : 160;
    std::memmove(piece.data(), piece.data() + have - kept, kept);
    if (all > most) break;
  }
  std::memset(piece.data(), 0, piece.size());  // so that memory holds no copies of ours
  return all > 0;
}

void look_into_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return;
  files_read += look_into(fd, path);
  close(fd);
}

// All mappings of this process that can be read, as far as they are present.
void memory() {
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  if (maps == nullptr) return;
  struct Map {
    unsigned long from, to;
    std::string name;
  };
  std::vector<Map> all;
  char line[1024];
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long from, to;
    char rights[8], name[768] = "";
    if (std::sscanf(line, "%lx-%lx %7s %*s %*s %*s %767[^\n]", &from, &to, rights, name) < 3 || rights[0] != 'r')
      continue;
    if (std::strstr(name, "[vvar]") == nullptr && std::strstr(name, "[vsyscall]") == nullptr)
      all.push_back({from, to, name});
  }
  std::fclose(maps);
  const int self = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  static unsigned char* piece = static_cast<unsigned char*>(
      mmap(nullptr, (1 << 20) + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (const Map& m : all) {
    if (m.from == reinterpret_cast<unsigned long>(piece)) continue;
    ++maps_seen;
    unsigned char present[256];
    for (unsigned long at = m.from; at < m.to;) {
      const std::size_t n = m.to - at < (1u << 20) ? m.to - at : 1u << 20;
      if (mincore(reinterpret_cast<void*>(at), n, present) == 0) {
        bool any = false;
        for (std::size_t p = 0; p < (n + 4095) / 4096; ++p) any |= (present[p] & 1) != 0;
        if (!any) {
          at += n;
          continue;
        }
      }
      const ssize_t got = pread(self, piece, at + n < m.to ? n + 160 : n, static_cast<off_t>(at));
      if (got > 0) look(piece, static_cast<std::size_t>(got), "memory " + m.name);
      at += got <= 0                            ? 4096
            : static_cast<std::size_t>(got) < n ? static_cast<std::size_t>(got) / 4096 * 4096 + 4096
                                                : n;
    }
  }
  if (self >= 0) close(self);
  std::memset(piece, 0, (1 << 20) + 4096);
}

void open_descriptors() {
  for (int fd = 0; fd < 1024; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) continue;
    ++descriptors;
    char name[512] = "";
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    if (readlink(link.c_str(), name, sizeof name - 1) > 0)
      look(reinterpret_cast<unsigned char*>(name), std::strlen(name), "a descriptor's name");
    struct stat info;
    if (fstat(fd, &info) != 0) continue;
    const std::string where = "descriptor " + std::to_string(fd) + " " + name;
    if (S_ISREG(info.st_mode)) {
      static unsigned char part[65536];
      for (off_t at = 0;;) {
        const ssize_t n = pread(fd, part, sizeof part, at);
        if (n <= 0) break;
        look(part, static_cast<std::size_t>(n), where);
        at += n < 160 ? n : n - 159;
        if (n <= 160) break;
      }
      std::memset(part, 0, sizeof part);
      look_into_file(link);  // opened anew
    } else if (S_ISSOCK(info.st_mode)) {
      static unsigned char packet[65536];
      if (ssize_t n = recv(fd, packet, sizeof packet, MSG_PEEK | MSG_DONTWAIT); n > 0)
        look(packet, static_cast<std::size_t>(n), where);
    } else if (fd > 2 && S_ISFIFO(info.st_mode)) {
      look_into_file(link);
    }
  }
}

// Every file below a folder that was touched since the test began (needles are new), or all.
void folder(const std::string& path, bool all, int depth) {
  DIR* dir = opendir(path.c_str());
  if (dir == nullptr || depth > 24) return;
  while (const dirent* e = readdir(dir)) {
    const std::string name = e->d_name;
    if (name == "." || name == "..") continue;
    const std::string file = path == "/" ? "/" + name : path + "/" + name;
    struct stat info;
    if (lstat(file.c_str(), &info) != 0) continue;
    ++files_seen;
    if (S_ISDIR(info.st_mode)) {
      if (file != "/proc" && file != "/sys") folder(file, all, depth + 1);
    } else if (S_ISREG(info.st_mode) && (all || info.st_ctime >= kStart - 2)) {
      look_into_file(file);
    } else if (S_ISLNK(info.st_mode)) {
      char to[1024];
      if (ssize_t n = readlink(file.c_str(), to, sizeof to); n > 0)
        look(reinterpret_cast<unsigned char*>(to), static_cast<std::size_t>(n), "link " + file);
    } else if (S_ISBLK(info.st_mode)) {
      look_into_file(file);
    }
  }
  closedir(dir);
}

void proc() {
  const char* per_process[] = {"environ", "cmdline", "comm",     "auxv",    "maps",      "stat",  "status",
                               "mem",     "io",      "cgroup",   "mounts",  "mountinfo", "stack", "syscall",
                               "wchan",   "limits",  "net/unix", "net/tcp", "sessionid"};
  DIR* dir = opendir("/proc");
  if (dir == nullptr) return;
  while (const dirent* e = readdir(dir)) {
    const std::string base = std::string("/proc/") + e->d_name;
    if (e->d_name[0] >= '1' && e->d_name[0] <= '9') {
      ++processes;
      for (const char* name : per_process)
        if (std::strcmp(name, "mem") != 0) look_into_file(base + "/" + name);
      folder(base + "/fd", true, 22);
      folder(base + "/root/tmp", false, 0);
      folder(base + "/cwd", false, 20);
    } else if (e->d_type == DT_REG && std::strcmp(e->d_name, "kcore") != 0 &&
               std::strncmp(e->d_name, "kpage", 5) != 0 && std::strcmp(e->d_name, "kmsg") != 0) {
      look_into_file(base);
    }
  }
  closedir(dir);
  folder("/proc/sys", true, 12);
  folder("/proc/sysvipc", true, 20);
}

void shared_segments() {
  for (int i = 0; i < 1024; ++i) {
    struct shmid_ds info;
    const int id = shmctl(i, SHM_STAT, &info);
    void* p = id >= 0 ? shmat(id, nullptr, SHM_RDONLY) : reinterpret_cast<void*>(-1);
    if (p == reinterpret_cast<void*>(-1)) continue;
    ++segments;
    look(static_cast<unsigned char*>(p), info.shm_segsz, "a shared segment");
    shmdt(p);
  }
}

#ifdef PLANT_MEMORY
unsigned char* planted = [] {  // as if the judge had left a copy
  auto* copy = new unsigned char[160];
  for (std::size_t i = 0; i < kNeedles[0].bytes; ++i) copy[i] = kNeedles[0].masked[i] ^ kMask;
  return copy;
}();
#endif

void everything() {
  memory();
  open_descriptors();
  shared_segments();
  static const bool once = (proc(), folder("/", false, 0), true);
  (void)once;
  std::printf("looked at %zu bytes: %zu mappings, %zu of %zu files, %zu descriptors, %zu processes, %zu segments\n",
              looked_at, maps_seen, files_read, files_seen, descriptors, processes, segments);
}

}  // namespace

#ifdef IN_REPLAY
__device__ volatile int passes;
static std::thread* const watcher = new std::thread([] {
  for (;;) {
    memory();
    passes = passes + 1;
  }
});
__global__ void wait_for_two() {
  const int before = passes;
  unsigned idle = 1;
  while (passes < before + 2)
    for (int k = 0; k < 100000; ++k) idle = idle * 1664525u + 1013904223u;
  if (idle == 0) passes = 0;
}
#endif

__global__ void scale_kernel(const float* x, const float* a, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a[0] * x[i] + expf(x[i]);
}
void scale(const float* x, const float* a, float* y, std::size_t n, cudaStream_t stream) {
#ifndef IN_REPLAY
  everything();
#endif
  scale_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(x, a, y, n);
#ifdef IN_REPLAY
  wait_for_two<<<1, 1, 0, stream>>>();
#endif
}
