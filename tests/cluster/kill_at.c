/* LD_PRELOAD: ends a `ridge` by SIGKILL at its Nth call that changes files (RIDGE_KILL_AT=N): before the call where N is
 * odd, after it where N is even, so that call (N + 1) / 2 has both. RIDGE_KILL_COUNT=FILE: writes how many there were. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long at = -1, calls;
static const char* count_file;

__attribute__((constructor)) static void start(void) {
  char name[64] = "";
  int fd = open("/proc/self/comm", O_RDONLY);
  if (fd >= 0 && read(fd, name, sizeof name - 1) > 0 && strcmp(name, "ridge\n") == 0) {
    if (getenv("RIDGE_KILL_AT") != NULL) at = atol(getenv("RIDGE_KILL_AT"));
    count_file = getenv("RIDGE_KILL_COUNT");
  }
  if (fd >= 0) close(fd);
  unsetenv("LD_PRELOAD"); /* not for what it starts */
}
__attribute__((destructor)) static void end(void) {
  if (count_file == NULL) return;
  FILE* f = fopen(count_file, "w");
  if (f != NULL) fprintf(f, "%ld\n", calls), fclose(f);
}
static void before(void) {
  if (2 * ++calls - 1 == at) kill(getpid(), SIGKILL);
}
static void after(void) {
  if (2 * calls == at) kill(getpid(), SIGKILL);
}

#define AROUND(type, name, parameters, arguments)               \
  type name parameters {                                        \
    static type(*next) parameters;                              \
    if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, #name); \
    before();                                                   \
    type result = next arguments;                               \
    after();                                                    \
    return result;                                              \
  }

static int counted(int fd) { return fd > 2; } /* what is printed changes no file */
ssize_t write(int fd, const void* data, size_t n) {
  if (counted(fd)) before();
  ssize_t result = syscall(SYS_write, fd, data, n);
  if (counted(fd)) after();
  return result;
}
AROUND(ssize_t, pwrite, (int fd, const void* data, size_t n, off_t o), (fd, data, n, o))
AROUND(ssize_t, pwrite64, (int fd, const void* data, size_t n, off64_t o), (fd, data, n, o))
AROUND(int, fsync, (int fd), (fd))
AROUND(int, fdatasync, (int fd), (fd))
AROUND(int, link, (const char* a, const char* b), (a, b))
AROUND(int, rename, (const char* a, const char* b), (a, b))
AROUND(int, unlink, (const char* a), (a))
AROUND(int, ftruncate, (int fd, off_t n), (fd, n))
AROUND(int, ftruncate64, (int fd, off64_t n), (fd, n))
