// The worker on the SIMT emulator.
#include <cuda_runtime.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "../simt/simt.hpp"
#include "backend.hpp"

namespace ridge::worker {

namespace {
bool recording = false;
std::optional<std::size_t> allocated;  // before the last call

template <std::size_t N>
void put(char (&to)[N], const std::string& text) {
  std::snprintf(to, N, "%s", text.c_str());
}

// Two calls with the same sizes: what a submission keeps from the first to the second is no leak.
bool describe_leak(protocol::Done& done) {
  if (!allocated || simt::Sanitizer::live_allocations() <= *allocated) return false;
  std::string line = simt::Sanitizer::newest_allocation();
  auto colon = line.rfind(':');
  done.status = protocol::Status::fault;
  put(done.what, "memory leak");
  put(done.detail, "every call allocates memory that it never frees: " +
                       std::to_string(simt::Sanitizer::live_allocations() - *allocated) + " more after each");
  if (colon == std::string::npos) return true;
  put(done.file, line.substr(0, colon));
  done.line = std::atoi(line.c_str() + colon + 1);
  return true;
}

// A finding has no error code: the kernel ran on.
bool describe_finding(protocol::Done& done) {
  std::vector<simt::Finding> all = simt::findings();
  if (all.empty()) return describe_leak(done);
  const simt::Finding& f = all.front();
  done.status = protocol::Status::fault;
  put(done.what, f.kind);
  put(done.detail, f.detail);
  put(done.kernel, f.kernel);
  done.pc = f.at.pc;
  std::memcpy(done.block, f.at.block_index, sizeof done.block);
  std::memcpy(done.thread, f.at.thread, sizeof done.thread);
  if (!f.race) return true;
  const unsigned* t = f.other.thread;
  std::string where = f.other.block == f.at.block ? "the same block" : "block number " + std::to_string(f.other.block);
  done.other_pc = f.other.pc;
  put(done.what, f.kind + " (" + f.at.what + ")");
  put(done.other, std::string(f.other.what) + " by " + where + ", thread (" + std::to_string(t[0]) + "," +
                      std::to_string(t[1]) + "," + std::to_string(t[2]) + ")");
  return true;
}
}  // namespace

void start(protocol::Hello& hello) {
  hello.simt = 1;
  put(hello.device, "SIMT emulator");
}

void* map_buffer(int fd, const protocol::Buffer& buffer, std::string& error) {
  void* p = simt::map_buffer(fd, buffer.bytes, buffer.writable != 0);
  if (p == nullptr) error = std::strerror(errno);
  return p;
}

// The emulator counts; its time is virtual, and in the launch records.
void start_clock(cudaStream_t, std::uint32_t) {}
double stop_clock(cudaStream_t) { return 0; }

void set_recording(bool on) {
  recording = on;
  simt::set_recording(on);
}

void set_sanitizing(bool on) {
  simt::clear_findings();
  allocated.reset();
  simt::Sanitizer::enable(on);
}

void before_last_call() { allocated = simt::Sanitizer::live_allocations(); }

int take_launches() {
  if (!recording) return -1;
  std::string json = simt::launches_json(simt::take_launches());
  int fd = memfd_create("launches", MFD_CLOEXEC);
  for (std::size_t at = 0; fd >= 0 && at < json.size();) {
    ssize_t n = write(fd, json.data() + at, json.size() - at);
    if (n <= 0) break;
    at += static_cast<std::size_t>(n);
  }
  return fd;
}

bool describe_fault(protocol::Done& done) {
  const simt::Fault* fault = simt::last_fault();
  if (fault == nullptr) return describe_finding(done);
  done.status = protocol::Status::fault;
  done.code = fault->error;
  put(done.what, fault->kind);
  put(done.detail, fault->detail);
  put(done.kernel, fault->kernel);
  put(done.file, fault->file);
  done.line = fault->line;
  done.pc = fault->pc;
  std::memcpy(done.block, fault->block, sizeof done.block);
  std::memcpy(done.thread, fault->thread, sizeof done.thread);
  return true;
}

}  // namespace ridge::worker
