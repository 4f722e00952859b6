// read_direct of task `direct` on a real file system, in turns with a plain loop of aligned pread calls with O_DIRECT into
// the same page-locked memory and a copy to the device behind each, which is the loop that the task replaces. Then
// read_cufile, where cuFile is there. Prints medians in GB/s, their spread, and ratios.
//
//   nvcc -O3 -std=c++20 -DRIDGE_REAL_FILES -DRIDGE_HAVE_URING -I runtime -I labs/17_input_pipeline
//        labs/17_input_pipeline/experiments/direct.cu solutions/17_input_pipeline/direct.cu
//        runtime/files/real.cpp runtime/files/client.cpp -luring -lcufile -o direct
//   RIDGE_FILES=FOLDER ./direct [MIB] [TURNS]
// Without liburing leave -DRIDGE_HAVE_URING and -luring out; without cuFile -lcufile. FOLDER is on the file system to be
// measured; the file made there is removed at the end.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "direct.hpp"

namespace {

constexpr const char* kFile = "ridge-direct.tmp";

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

bool plain_loop(long long bytes, unsigned char* to, unsigned char* locked, cudaStream_t stream) {
  const int fd = files::open(kFile, files::kDirect);
  if (fd < 0) return false;
  constexpr long long part = 1 << 20;
  for (long long at = 0; at < bytes; at += part) {
    const long long n = std::min(part, bytes - at);
    if (files::pread(fd, locked, static_cast<std::size_t>(part), at) < n) return false;
    cudaMemcpyAsync(to + at, locked, static_cast<std::size_t>(n), cudaMemcpyHostToDevice, stream);
    cudaStreamSynchronize(stream);
  }
  return files::close(fd) == 0;
}

struct Figure {
  const char* name;
  std::vector<double> rates = {};  // GB/s
  double median() const { return rates[rates.size() / 2]; }
};

}  // namespace

int main(int argc, char** argv) {
  const long long bytes = (argc > 1 ? std::atoll(argv[1]) : 1024) << 20;
  const int turns = argc > 2 ? std::atoi(argv[2]) : 9;
  // Page-locked memory whose address is a multiple of the alignment.
  void* memory = nullptr;
  cudaMallocHost(&memory, kLockedBytes + 4096);
  auto* locked = static_cast<unsigned char*>(memory) + (4096 - reinterpret_cast<std::uintptr_t>(memory) % 4096) % 4096;
  unsigned char *to = nullptr, *scratch = nullptr;
  cudaMalloc(&to, static_cast<std::size_t>(bytes));
  cudaMalloc(&scratch, static_cast<std::size_t>(bytes) + 8192);
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);

  const int fd = files::open(kFile, files::kWrite | files::kCreate | files::kTruncate);
  bool good = fd >= 0;
  for (long long at = 0; good && at < bytes; at += kLockedBytes) {
    for (long long i = 0; i < kLockedBytes; ++i) locked[i] = static_cast<unsigned char>((at + i) * 2654435761u >> 13);
    const long long n = std::min(kLockedBytes, bytes - at);
    good = files::pwrite(fd, locked, static_cast<std::size_t>(n), at) == n;
  }
  good = good && files::fsync(fd) == 0 && files::close(fd) == 0;
  if (!good) return std::fprintf(stderr, "cannot write %lld bytes below RIDGE_FILES\n", bytes), 1;

  const bool cufile = files::cufile_available();
  Figure all[] = {{"plain O_DIRECT loop"}, {"read_direct"}, {"read_cufile"}};
  for (int turn = 0; turn < turns; ++turn)
    for (int what = 0; what < (cufile ? 3 : 2); ++what) {
      cudaMemset(to, 0, static_cast<std::size_t>(bytes));
      cudaDeviceSynchronize();
      const double begin = now();
      good = what == 0   ? plain_loop(bytes, to, locked, stream)
             : what == 1 ? read_direct(kFile, 0, bytes, to, locked, stream)
                         : read_cufile(kFile, 0, bytes, to, scratch, static_cast<std::size_t>(bytes) + 8192, stream);
      cudaDeviceSynchronize();
      all[what].rates.push_back(static_cast<double>(bytes) / (now() - begin) / 1e9);
      unsigned char last = 0;
      cudaMemcpy(&last, to + bytes - 1, 1, cudaMemcpyDeviceToHost);
      if (!good || last != static_cast<unsigned char>((bytes - 1) * 2654435761u >> 13))
        return std::fprintf(stderr, "%s failed, or read other bytes\n", all[what].name), files::unlink(kFile), 1;
    }
  files::unlink(kFile);
  for (Figure& f : all) {
    if (f.rates.empty()) {
      std::printf("%-20s cannot run here: no cuFile\n", f.name);
      continue;
    }
    std::sort(f.rates.begin(), f.rates.end());
    std::printf("%-20s %6.2f GB/s (%.2f to %.2f), %.2f of the plain loop\n", f.name, f.median(), f.rates.front(),
                f.rates.back(), f.median() / all[0].median());
  }
  return 0;
}
