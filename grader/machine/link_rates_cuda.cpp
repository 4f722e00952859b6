// Copies between the host and the GPUs, one link at a time. The driver is loaded at run time, as in device_cuda.cpp.
#include <cstdio>

#include "grader/machine/link_rates.hpp"

#ifdef RIDGE_HAVE_CUDA

#include <cuda.h>

#include <algorithm>
#include <functional>

#include "grader/base/clock.hpp"
#include "grader/sandbox/dynamic_library.hpp"

namespace ridge {

namespace {

constexpr std::size_t kBytes = 64 << 20;
constexpr double kMostSeconds = 0.08, kLeastSeconds = 0.02;  // per link

struct Driver {
  decltype(&::cuInit) init;
  decltype(&::cuDeviceGetCount) count;
  decltype(&::cuDeviceGet) device;
  decltype(&::cuDeviceGetPCIBusId) address;
  decltype(&::cuDevicePrimaryCtxRetain) retain;
  decltype(&::cuCtxSetCurrent) use;
  decltype(&::cuDeviceCanAccessPeer) can_access;
  decltype(&::cuCtxEnablePeerAccess) enable_access;
  decltype(&::cuMemAlloc) alloc;
  decltype(&::cuMemHostAlloc) host_alloc;
  decltype(&::cuStreamCreate) stream;
  decltype(&::cuStreamSynchronize) wait;
  decltype(&::cuMemcpyHtoDAsync) to_device;
  decltype(&::cuMemcpyDtoHAsync) to_host;
  decltype(&::cuMemcpyPeerAsync) to_peer;
  decltype(&::cuGetErrorName) error_name;

  bool find(const DynamicLibrary& lib) {
    return lib.get(init, "cuInit") && lib.get(count, "cuDeviceGetCount") && lib.get(device, "cuDeviceGet") &&
           lib.get(address, "cuDeviceGetPCIBusId") && lib.get(retain, "cuDevicePrimaryCtxRetain") &&
           lib.get(use, "cuCtxSetCurrent") && lib.get(can_access, "cuDeviceCanAccessPeer") &&
           lib.get(enable_access, "cuCtxEnablePeerAccess") && lib.get(alloc, "cuMemAlloc_v2") &&
           lib.get(host_alloc, "cuMemHostAlloc") && lib.get(stream, "cuStreamCreate") &&
           lib.get(wait, "cuStreamSynchronize") && lib.get(to_device, "cuMemcpyHtoDAsync_v2") &&
           lib.get(to_host, "cuMemcpyDtoHAsync_v2") && lib.get(to_peer, "cuMemcpyPeerAsync") &&
           lib.get(error_name, "cuGetErrorName");
  }
};

// The resources of one GPU for its copies; the process's end frees them.
struct End {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr memory = 0;
  void* host = nullptr;  // page-locked
  std::string address;
};

struct Link {
  std::string from, to;
  const End* runs;  // its context and stream
  std::function<CUresult()> copy;
};

CUresult open_end(const Driver& d, int index, End& e) {
  char address[32] = {};
  CUresult r = d.device(&e.device, index);
  if (r == CUDA_SUCCESS) r = d.address(address, sizeof address, e.device);
  e.address = pci_address(address);
  if (r == CUDA_SUCCESS) r = d.retain(&e.context, e.device);
  if (r == CUDA_SUCCESS) r = d.use(e.context);
  if (r == CUDA_SUCCESS) r = d.stream(&e.stream, CU_STREAM_NON_BLOCKING);
  if (r == CUDA_SUCCESS) r = d.alloc(&e.memory, kBytes);
  if (r == CUDA_SUCCESS) r = d.host_alloc(&e.host, kBytes, CU_MEMHOSTALLOC_PORTABLE);
  return r;
}

// Direct copies where the pair can; otherwise the driver takes them through host memory.
void join(const Driver& d, const End& a, const End& b) {
  int can = 0;
  if (d.can_access(&can, a.device, b.device) != CUDA_SUCCESS || can == 0) return;
  d.use(a.context);
  d.enable_access(b.context, 0);
}

// The first copies wake the link and say how many fill `seconds`.
CUresult time_link(const Driver& d, const Link& link, double seconds, double& rate) {
  CUresult r = d.use(link.runs->context);
  auto copies = [&](int n) {
    const double start = now();
    for (int i = 0; i < n && r == CUDA_SUCCESS; ++i) r = link.copy();
    if (r == CUDA_SUCCESS) r = d.wait(link.runs->stream);
    return now() - start;
  };
  copies(2);
  const double one = copies(1);
  const int n = std::clamp(static_cast<int>(seconds / std::max(one, 1e-6)), 1, 1000);
  rate = n * static_cast<double>(kBytes) / copies(n);
  return r;
}

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);  // this process may be killed while it waits for a link
}

}  // namespace

void measure_links(double seconds) {
  const double end = now() + seconds;
  const auto& lib = *new DynamicLibrary("libcuda.so.1");  // stays: the driver does not like to go before its contexts
  Driver d{};
  int count = 0;
  if (!lib || !d.find(lib) || d.init(0) != CUDA_SUCCESS || d.count(&count) != CUDA_SUCCESS || count == 0)
    return say("none no GPU here");
  auto name = [&](CUresult r) {
    const char* text = nullptr;
    d.error_name(r, &text);
    return std::string(text != nullptr ? text : "unknown error");
  };
  std::vector<End> ends;
  for (int i = 0; i < count; ++i) {
    End e;
    CUresult r = open_end(d, i, e);
    if (r == CUDA_SUCCESS)
      ends.push_back(e);
    else
      say("failed host " + (e.address.empty() ? "GPU" + std::to_string(i) : e.address) + " " + name(r));
  }
  std::vector<Link> links;
  for (const End& a : ends) {
    links.push_back({"host", a.address, &a, [&d, &a] { return d.to_device(a.memory, a.host, kBytes, a.stream); }});
    links.push_back({a.address, "host", &a, [&d, &a] { return d.to_host(a.host, a.memory, kBytes, a.stream); }});
  }
  for (const End& a : ends)
    for (const End& b : ends)
      if (&a != &b) {
        join(d, a, b);
        links.push_back({a.address, b.address, &a, [&d, &a, &b] {
                           return d.to_peer(b.memory, b.context, a.memory, a.context, kBytes, a.stream);
                         }});
      }
  for (std::size_t i = 0; i < links.size(); ++i) {
    // Half of a link's time goes into its first copies.
    const double share = (end - now()) / static_cast<double>(links.size() - i) / 2;
    if (now() + kLeastSeconds > end) return say("left " + std::to_string(links.size() - i));
    const std::string ways = links[i].from + " " + links[i].to;
    say("begin " + ways);
    double rate = 0;
    CUresult r = time_link(d, links[i], std::clamp(share, kLeastSeconds, kMostSeconds), rate);
    say(r == CUDA_SUCCESS ? "rate " + ways + " " + std::to_string(rate) : "failed " + ways + " " + name(r));
  }
  say("left 0");
}

}  // namespace ridge

#else

namespace ridge {

void measure_links(double) { std::printf("none this ridge was built without the CUDA Toolkit\n"); }

}  // namespace ridge

#endif
