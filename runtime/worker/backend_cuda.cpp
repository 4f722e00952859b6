// The worker on a GPU. The judge's buffers arrive as POSIX descriptors of cuMemCreate allocations (CUDA Driver API,
// "Virtual Memory Management").
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "backend.hpp"

// Declarations from mpi_ranks.cpp and nccl.h, which a lab without MPI or NCCL need not have. They are resolved if the
// lab links with them.
struct ridge_nccl_id {
  char bytes[128];
};
extern "C" {
__attribute__((weak)) void ridge_mpi_start(int rank, int ranks);
__attribute__((weak)) int ncclGetUniqueId(ridge_nccl_id* id);
__attribute__((weak)) int ncclCommInitRank(void** comm, int ranks, ridge_nccl_id id, int rank);
__attribute__((weak)) const char* ncclGetErrorString(int result);
}

namespace ridge::worker {

namespace {

// Driver functions come through the runtime, so that nothing links against libcuda.
template <class F>
F driver(const char* name) {
  void* p = nullptr;
  cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 13000
  cudaError_t error = cudaGetDriverEntryPointByVersion(name, &p, 12000, cudaEnableDefault, &found);
#else
  cudaError_t error = cudaGetDriverEntryPoint(name, &p, cudaEnableDefault, &found);
#endif
  if (error != cudaSuccess || p == nullptr) {
    std::fprintf(stderr, "ridge worker: the driver has no %s\n", name);
    std::exit(3);
  }
  return reinterpret_cast<F>(p);
}

cudaEvent_t first = nullptr, last = nullptr;
void* scratch = nullptr;  // 4 bytes, for the device work of empty requests
int device = 0;           // a rank's number, else 0

}  // namespace

void issue_file_request(const files::Reply&, const files::Request&) {}
void wait_for_file_request(std::uint64_t) {}
void seal_code() {}
void allow_host_access() {}
double stays_awake() { return 0.002; }

void start(protocol::Hello& hello) {
  cudaDeviceProp prop;
  cudaError_t error = cudaGetDeviceProperties(&prop, device);
  if (error == cudaSuccess) error = cudaFree(nullptr);  // creates the context
  if (error != cudaSuccess) {
    std::fprintf(stderr, "ridge worker: no GPU: %s\n", cudaGetErrorString(error));
    std::exit(3);
  }
  std::snprintf(hello.device, sizeof hello.device, "%s", prop.name);
  error = cudaEventCreate(&first);
  if (error == cudaSuccess) error = cudaEventCreate(&last);
  if (error == cudaSuccess) error = cudaMalloc(&scratch, 4);
  if (error != cudaSuccess) {
    std::fprintf(stderr, "ridge worker: no events: %s\n", cudaGetErrorString(error));
    std::exit(3);
  }
}

void start_clock(cudaStream_t stream, std::uint32_t calls) {
  cudaEventRecord(first, stream);
  if (calls == 0) cudaMemsetAsync(scratch, 0, 4, stream);
}

double stop_clock(cudaStream_t stream) {
  float ms = 0;
  if (cudaEventRecord(last, stream) != cudaSuccess || cudaEventSynchronize(last) != cudaSuccess ||
      cudaEventElapsedTime(&ms, first, last) != cudaSuccess)
    return 0;  // the caller's own synchronization names the error
  return ms * 1e-3;
}

namespace {

// Memory of the host; page-locked where `pinned`.
void* map_host_buffer(int fd, std::size_t bytes, bool pinned, std::string& error) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) {
    error = std::strerror(errno);
    return nullptr;
  }
  if (cudaError_t e = pinned ? cudaHostRegister(p, bytes, cudaHostRegisterDefault) : cudaSuccess; e != cudaSuccess) {
    error = std::string("cudaHostRegister: ") + cudaGetErrorString(e);
    return nullptr;
  }
  return p;
}

}  // namespace

void* map_buffer(int fd, const protocol::Buffer& buffer, std::string& error) {
  if (buffer.place != 0) return map_host_buffer(fd, buffer.bytes, buffer.place != 2, error);
  static auto import = driver<decltype(&cuMemImportFromShareableHandle)>("cuMemImportFromShareableHandle");
  static auto reserve = driver<decltype(&cuMemAddressReserve)>("cuMemAddressReserve");
  static auto map = driver<decltype(&cuMemMap)>("cuMemMap");
  static auto set_access = driver<decltype(&cuMemSetAccess)>("cuMemSetAccess");
  static auto release = driver<decltype(&cuMemRelease)>("cuMemRelease");

  CUmemGenericAllocationHandle handle{};
  CUdeviceptr p = 0;
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = device;
  access.flags = buffer.writable != 0 ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_READ;
  CUresult r = import(&handle, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)),
                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  if (r == CUDA_SUCCESS) r = reserve(&p, buffer.reserved, 0, 0, 0);
  if (r == CUDA_SUCCESS) r = map(p, buffer.reserved, 0, handle, 0);
  if (r == CUDA_SUCCESS) r = set_access(p, buffer.reserved, &access, 1);
  if (r != CUDA_SUCCESS && access.flags == CU_MEM_ACCESS_FLAGS_PROT_READ) {
    // Some drivers know no read-only mappings: the judge compares inputs it keeps, never these.
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    r = set_access(p, buffer.reserved, &access, 1);
  }
  release(handle);
  if (r != CUDA_SUCCESS) {
    error = "CUDA driver error " + std::to_string(static_cast<int>(r));
    return nullptr;
  }
  return reinterpret_cast<void*>(p);
}

void set_recording(bool, bool) {}
void set_sanitizing(bool) {}
void before_last_call() {}
void set_tracing(bool) {}
int take_trace(std::string& error) {
  error = "a GPU keeps no trace";
  return -1;
}
void mark_call() {}
void call_begins(cudaStream_t) {}
void call_ends(cudaStream_t) {}
bool replay(int, const protocol::Replay&, protocol::Done& done) {
  done.status = protocol::Status::bad_request;
  return false;
}
int take_launches() { return -1; }
std::string why_refused(cudaError_t&) { return {}; }
bool describe_fault(protocol::Done&) { return false; }

// One GPU a rank. The judge sets NCCL_COMM_ID: ranks meet at that address of their sandbox's own loopback interface.
void* join_ranks(int, int rank, int ranks) {
  device = rank;
  if (cudaError_t e = cudaSetDevice(rank); e != cudaSuccess) {
    std::fprintf(stderr, "ridge worker: no GPU %d: %s\n", rank, cudaGetErrorString(e));
    std::exit(3);
  }
  if (ridge_mpi_start != nullptr) ridge_mpi_start(rank, ranks);
  if (ncclGetUniqueId == nullptr || ncclCommInitRank == nullptr) return nullptr;
  ridge_nccl_id id;
  void* comm = nullptr;
  int result = ncclGetUniqueId(&id);
  if (result == 0) result = ncclCommInitRank(&comm, ranks, id, rank);
  if (result == 0) return comm;
  std::fprintf(stderr, "ridge worker: rank %d of %d gets no communicator of NCCL: %s\n", rank, ranks,
               ncclGetErrorString(result));
  std::exit(3);
}
bool set_links(const char*, int, int) { return true; }

}  // namespace ridge::worker
