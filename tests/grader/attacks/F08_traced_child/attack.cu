#include "coalescing.hpp"
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
static volatile long witness = 0;
__attribute__((constructor)) static void trace() {
  int go[2];
  if (pipe(go) != 0) return;
  const pid_t child = fork();
  if (child < 0) return;
  if (child == 0) {
    char c;
    if (read(go[0], &c, 1) < 0) return;
    return;  // the worker from here on
  }
  if (ptrace(PTRACE_ATTACH, child, nullptr, nullptr) == 0) {
    waitpid(child, nullptr, __WALL);
    ptrace(PTRACE_POKEDATA, child, &witness, reinterpret_cast<void*>(1L));
    ptrace(PTRACE_DETACH, child, nullptr, nullptr);
  }
  if (write(go[1], "g", 1) < 0) _exit(1);
  int status = 0;
  while (waitpid(child, &status, 0) > 0 && !WIFEXITED(status)) {
  }
  _exit(0);
}
__global__ void copy_kernel(const float* in, float* out, std::size_t n) {
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  if (witness == 1) std::printf("poked @MARKER@\n");
  copy_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n);
}
