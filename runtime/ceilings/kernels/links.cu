// PCIe, NVLink, and what it costs to start work.
#include "measure.cuh"

namespace {

__global__ void empty_kernel() {}

void pcie() {
  const std::size_t bytes = std::size_t{256} << 20;
  void* host = nullptr;
  if (cudaMallocHost(&host, bytes) != cudaSuccess) return;
  Memory device(bytes);
  const auto size = static_cast<double>(bytes);
  print_rate({"h2d", "bandwidth", "host to device, page-locked", "B/s", "cudaMemcpyAsync of 256 MiB"}, size,
             seconds_of([&] { MUST(cudaMemcpyAsync(device.as<void>(), host, bytes, cudaMemcpyHostToDevice)); }));
  print_rate({"d2h", "bandwidth", "device to host, page-locked", "B/s", "cudaMemcpyAsync of 256 MiB"}, size,
             seconds_of([&] { MUST(cudaMemcpyAsync(host, device.as<void>(), bytes, cudaMemcpyDeviceToHost)); }));
  MUST(cudaFreeHost(host));
}

// Device 0 to device 1, where there is one that can be reached directly.
void peer(const Gpu& gpu) {
  int count = 0, can = 0;
  MUST(cudaGetDeviceCount(&count));
  if (count < 2) return;
  MUST(cudaDeviceCanAccessPeer(&can, 0, 1));
  if (can == 0) return;
  const std::size_t bytes = std::size_t{1} << 30;
  if (gpu.memory < 2 * bytes) return;
  Memory here(bytes);
  void* there = nullptr;
  MUST(cudaSetDevice(1));
  MUST(cudaMalloc(&there, bytes));
  MUST(cudaSetDevice(0));
  MUST(cudaDeviceEnablePeerAccess(1, 0));
  print_rate({"nvlink", "bandwidth", "device 0 to device 1", "B/s", "cudaMemcpyPeerAsync of 1 GiB, one direction"},
             static_cast<double>(bytes),
             seconds_of([&] { MUST(cudaMemcpyPeerAsync(there, 1, here.as<void>(), 0, bytes)); }));
  MUST(cudaSetDevice(1));
  MUST(cudaFree(there));
  MUST(cudaSetDevice(0));
}

void launches() {
  constexpr int kCount = 1000;
  std::vector<double> each = seconds_of([&] {
    for (int i = 0; i < kCount; ++i) empty_kernel<<<1, 32>>>();
  });
  for (double& s : each) s /= kCount;
  print_values({"launch", "latency", "kernel launch", "s", "1000 launches of an empty kernel in a row, each"}, each);

  cudaStream_t stream;
  MUST(cudaStreamCreate(&stream));
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < kCount; ++i) empty_kernel<<<1, 32, 0, stream>>>();
  MUST(cudaStreamEndCapture(stream, &graph));
  MUST(cudaGraphInstantiate(&exec, graph, 0));
  std::vector<double> nodes = seconds_of([&] { MUST(cudaGraphLaunch(exec, nullptr)); });
  for (double& s : nodes) s /= kCount;
  print_values(
      {"graph_node", "latency", "kernel node of a graph", "s", "1000 empty kernels in a row in one graph, each"},
      nodes);
  MUST(cudaGraphExecDestroy(exec));
  MUST(cudaGraphDestroy(graph));
  MUST(cudaStreamDestroy(stream));
}

}  // namespace

void measure_links(const Gpu& gpu) {
  pcie();
  peer(gpu);
  launches();
}
