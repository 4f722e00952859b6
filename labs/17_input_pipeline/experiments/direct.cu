// read_direct of task `direct` on a real file system, in turns with
//   a plain loop of aligned pread calls with O_DIRECT into the same page-locked memory, a copy to the device after each;
//   the same requests, eight in flight, into host memory alone: what the storage gives to somebody who only reads;
//   read_cufile, where cuFile is there.
// The order of each turn is drawn. Prints medians in GB/s, their least and most, and ratios to the plain loop.
//
//   nvcc -O3 -std=c++20 -DRIDGE_REAL_FILES -DRIDGE_HAVE_URING -I runtime -I labs/17_input_pipeline
//        labs/17_input_pipeline/experiments/direct.cu solutions/17_input_pipeline/direct.cu runtime/files/real.cpp
//        runtime/files/here.cpp runtime/files/threads.cpp runtime/files/client.cpp -luring -ldl -o direct
//   RIDGE_FILES=FOLDER ./direct [MIB] [TURNS]
// Without liburing leave -DRIDGE_HAVE_URING and -luring out: threads make the requests. cuFile needs cufile.h (-I its
// folder), and is looked for when the program runs. FOLDER is on the file system to be measured. The file made there is
// removed at the end; it should be larger than what the storage's own caches hold.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "direct.hpp"

namespace {

constexpr const char* kFile = "ridge-direct.tmp";
constexpr long long kPart = 1 << 20;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
unsigned char byte_of(long long i) { return static_cast<unsigned char>((i * 2654435761u) >> 13); }

bool plain_loop(long long bytes, unsigned char* to, unsigned char* locked, cudaStream_t stream) {
  const int fd = files::open(kFile, files::kDirect);
  if (fd < 0) return false;
  for (long long at = 0; at < bytes; at += kPart) {
    const long long n = std::min(kPart, bytes - at);
    if (files::pread(fd, locked, kPart, at) < n) return false;
    cudaMemcpyAsync(to + at, locked, static_cast<std::size_t>(n), cudaMemcpyHostToDevice, stream);
    cudaStreamSynchronize(stream);
  }
  return files::close(fd) == 0;
}

// Nothing goes to the device but the last part, by which the caller sees that the file was read.
bool reads_alone(long long bytes, unsigned char* to, unsigned char* locked, cudaStream_t stream) {
  constexpr int parts = kLockedBytes / kPart;
  const int fd = files::open(kFile, files::kDirect);
  if (fd < 0) return false;
  files::Ring ring(parts);
  const long long requests = (bytes + kPart - 1) / kPart;
  for (long long asked = 0, i = 0; i < requests; ++i) {
    for (; asked < requests && asked < i + parts; ++asked)
      if (ring.read(fd, locked + asked % parts * kPart, kPart, asked * kPart) != 0) return false;
    if (ring.wait().result < std::min(kPart, bytes - i * kPart)) return false;
  }
  const long long last = (requests - 1) * kPart;
  cudaMemcpyAsync(to + last, locked + (requests - 1) % parts * kPart, static_cast<std::size_t>(bytes - last),
                  cudaMemcpyHostToDevice, stream);
  cudaStreamSynchronize(stream);
  return files::close(fd) == 0;
}

// Tries one request: cuFile's library may be there, and refuse the file system or the memory. Empty where it works.
std::string why_no_cufile(unsigned char* scratch, long long bytes) {
  if (!files::cufile_available()) return "no cuFile";
  const int fd = files::open(kFile, files::kDirect);
  if (fd < 0) return "the file does not open with O_DIRECT";
  const auto refusal = [](const char* call, long long result) {
    return std::string(call) + " fails with " + std::to_string(result);
  };
  std::string why;
  if (const int error = files::register_buffer(scratch, static_cast<std::size_t>(bytes) + 8192); error != 0)
    why = refusal("cuFileBufRegister", error);
  else if (const ssize_t n = files::read_to_device(fd, scratch, kPart, 0, 0); n != kPart)
    why = refusal("cuFileHandleRegister or cuFileRead", n);
  files::deregister_buffer(scratch);
  files::close(fd);
  return why;
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
    const long long n = std::min(kLockedBytes, bytes - at);
    for (long long i = 0; i < n; ++i) locked[i] = byte_of(at + i);
    good = files::pwrite(fd, locked, static_cast<std::size_t>(n), at) == n;
  }
  good = good && files::fsync(fd) == 0 && files::drop_pages(fd) == 0 && files::close(fd) == 0;
  if (!good) return std::fprintf(stderr, "cannot write %lld bytes below RIDGE_FILES\n", bytes), 1;

  const std::string no_cufile = why_no_cufile(scratch, bytes);
  Figure all[] = {{"plain O_DIRECT loop"}, {"eight in flight, no device"}, {"read_direct"}, {"read_cufile"}};
  std::vector<int> order = {0, 1, 2};
  if (no_cufile.empty()) order.push_back(3);
  std::mt19937 random(20260101);
  for (int turn = 0; turn < turns; ++turn) {
    std::shuffle(order.begin(), order.end(), random);
    for (const int what : order) {
      cudaMemset(to, 0, static_cast<std::size_t>(bytes));
      cudaDeviceSynchronize();
      const double begin = now();
      good = what == 0   ? plain_loop(bytes, to, locked, stream)
             : what == 1 ? reads_alone(bytes, to, locked, stream)
             : what == 2 ? read_direct(kFile, 0, bytes, to, locked, stream)
                         : read_cufile(kFile, 0, bytes, to, scratch, static_cast<std::size_t>(bytes) + 8192, stream);
      cudaDeviceSynchronize();
      all[what].rates.push_back(static_cast<double>(bytes) / (now() - begin) / 1e9);
      unsigned char last = 0;
      cudaMemcpy(&last, to + bytes - 1, 1, cudaMemcpyDeviceToHost);
      if (!good || last != byte_of(bytes - 1))
        return std::fprintf(stderr, "%s failed, or read other bytes\n", all[what].name), files::unlink(kFile), 1;
    }
  }
  files::unlink(kFile);
  for (Figure& f : all) {
    if (f.rates.empty()) {
      std::printf("%-28s cannot run here: %s\n", f.name, no_cufile.c_str());
      continue;
    }
    std::sort(f.rates.begin(), f.rates.end());
    std::printf("%-28s %6.2f GB/s (%.2f to %.2f), %.2f of the plain loop\n", f.name, f.median(), f.rates.front(),
                f.rates.back(), f.median() / all[0].median());
  }
  return 0;
}
