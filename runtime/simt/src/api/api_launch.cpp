// Kernel launches, what is known of a kernel by its address, and its limits.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <unordered_map>

#include "api/api.hpp"
#include "device/device_profile.hpp"
#include "device/fault.hpp"
#include "device/host_fault.hpp"
#include "device/program.hpp"
#include "hooks/probe.hpp"
#include "launch/child_launches.hpp"

using namespace ridge::simt;

namespace ridge::simt::api {

namespace {

constexpr std::size_t kClosureAlignment = 256;  // parameters may be aligned to 64 (CUtensorMap) and more

struct Function {
  ridge_simt::KernelEntry entry{};
  std::string name;
  int max_dynamic_shared = -1;  // as set by cudaFuncSetAttribute
  int carveout = -1;
  cudaFuncCache cache = cudaFuncCachePreferNone;
  int most_threads = 0, least_blocks = 0;  // __launch_bounds__
  Index3 cluster = {0, 0, 0};              // __cluster_dims__
  bool large_clusters = false;             // cudaFuncAttributeNonPortableClusterSizeAllowed
};

std::unordered_map<std::uintptr_t, Function>& functions() {
  static auto* map = new std::unordered_map<std::uintptr_t, Function>;
  return *map;
}

int highest_limit = 0;  // highest limit that any kernel has

std::string in_words(dim3 d) { return std::to_string(d.x) + " x " + std::to_string(d.y) + " x " + std::to_string(d.z); }

// mine::kernel<3> -> kernel
std::string base_name(std::string name) {
  name = name.substr(0, std::min(name.find('<'), name.find('(')));
  const std::size_t scope = name.rfind("::");
  return scope == std::string::npos ? name : name.substr(scope + 2);
}

// The cluster of a launch: as the launch says, else as the kernel does.
Index3 cluster_of(std::uintptr_t function, const char* name, const LaunchMode& mode) {
  auto at = functions().find(function);
  // In programs without counters a launch has a name alone.
  if (function == 0 && mode.cluster.x == 0)
    at = std::find_if(functions().begin(), functions().end(), [&](const auto& f) {
      return f.second.cluster.x != 0 &&
             base_name(f.second.name.empty() ? function_name(f.first) : f.second.name) == base_name(name);
    });
  Index3 c = mode.cluster.x != 0 ? mode.cluster : at == functions().end() ? Index3{1, 1, 1} : at->second.cluster;
  if (c.x == 0) c = {1, 1, 1};
  return c;
}

// Why a launch with such clusters is refused; empty where it is not.
std::string refused_cluster(std::uintptr_t function, Index3 c, dim3 grid) {
  const auto at = functions().find(function);
  const bool large = at != functions().end() && at->second.large_clusters;
  if (at != functions().end() && at->second.cluster.x != 0 && c != at->second.cluster)
    return "clusters of another size than its __cluster_dims__";
  const std::string blocks = in_words({c.x, c.y, c.z});
  if (c.y == 0 || c.z == 0 || std::uint64_t{c.x} * c.y * c.z > (large || function == 0 ? 16u : 8u))
    return "clusters of " + blocks +
           " blocks: 8 are the most, and 16 with cudaFuncAttributeNonPortableClusterSizeAllowed";
  if (grid.x % c.x != 0 || grid.y % c.y != 0 || grid.z % c.z != 0)
    return "a grid of " + in_words(grid) + " blocks, which is no multiple of its clusters of " + blocks;
  return {};
}

}  // namespace

int most_threads(std::uintptr_t function) {
  const auto at = functions().find(function);
  return at == functions().end() || at->second.most_threads == 0 ? 1024 : std::min(at->second.most_threads, 1024);
}

// As ptxas limits them, so that as many blocks of so many threads fit.
KernelResources bounded_resources(std::uintptr_t function) {
  KernelResources needs = resources_of(function);
  const auto at = functions().find(function);
  if (at == functions().end() || at->second.most_threads == 0) return needs;
  const int warps = (at->second.most_threads + 31) / 32, blocks = std::max(at->second.least_blocks, 1);
  const auto each = static_cast<unsigned>(device_profile().registers_per_sm / (32.0 * warps * blocks));
  needs.registers = std::min(needs.registers, std::max(each / 8 * 8, 16u));
  return needs;
}

std::shared_ptr<void> closure_memory(std::size_t bytes) {
  const std::size_t whole = (bytes + kClosureAlignment - 1) / kClosureAlignment * kClosureAlignment;
  return {std::aligned_alloc(kClosureAlignment, std::max(whole, kClosureAlignment)), std::free};
}

std::size_t dynamic_shared_limit(std::uintptr_t function) {
  const auto plain = static_cast<std::size_t>(device_profile().shared_per_block);
  const std::size_t fixed = resources_of(function).static_shared;
  const std::size_t usual = plain > fixed ? plain - fixed : 0;
  auto at = functions().find(function);
  // The highest limit holds if the launch does not say which kernel it calls.
  int given = function == 0 ? highest_limit : at == functions().end() ? -1 : at->second.max_dynamic_shared;
  return std::max(usual, given < 0 ? 0 : static_cast<std::size_t>(given));
}

cudaError_t kernel_work(Work& work, const char* name, dim3 grid, dim3 block, std::size_t shared,
                        std::uintptr_t function, LaunchMode mode) {
  const DeviceProfile& profile = device_profile();
  auto zero = [](dim3 d) { return d.x == 0 || d.y == 0 || d.z == 0; };
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (zero(grid) || zero(block) || block.x > 1024 || block.y > 1024 || block.z > 64 || threads > kMaxThreadsPerBlock ||
      grid.x > 0x7FFFFFFFu || grid.y > 65535 || grid.z > 65535) {
    explain(std::string(name) + " with a grid of " + in_words(grid) + " blocks of " + in_words(block) + " threads: " +
            (zero(grid)                         ? "where there is nothing to do, nothing is launched"
             : zero(block)                      ? "a block has one thread at least"
             : grid.y > 65535 || grid.z > 65535 ? "y and z of a grid are 65535 at most"
                                                : "a block has 1024 threads at most, and z is 64 at most"));
    return cudaErrorInvalidValue;  // CUDA 13.0 on an H200; cudaErrorInvalidConfiguration before
  }
  if (const int most = most_threads(function); function != 0 && threads > static_cast<unsigned>(most)) {
    explain(std::string(name) + " with blocks of " + in_words(block) + " threads: its __launch_bounds__ allow " +
            std::to_string(most));
    return cudaErrorInvalidValue;  // CUDA 13.0 on an H100
  }
  if (const std::size_t most = dynamic_shared_limit(function); shared > most) {
    explain(std::string(name) + " with " + std::to_string(shared) + " bytes of dynamic shared memory, where " +
            std::to_string(most) + " may be: cudaFuncSetAttribute raises that, to " +
            std::to_string(static_cast<std::size_t>(profile.shared_per_block_optin) -
                           resources_of(function).static_shared));
    return cudaErrorInvalidValue;
  }
  const std::size_t fixed = resources_of(function).static_shared, all_shared = shared + fixed;
  if (static_cast<double>(fixed) > profile.shared_per_block) {
    std::fprintf(stderr,
                 "ridge: kernel %s has %zu bytes of static shared memory; nvcc allows %.0f: use extern __shared__\n",
                 name, fixed, profile.shared_per_block);
    return cudaErrorLaunchOutOfResources;
  }
  const Index3 cluster = cluster_of(function, name, mode);
  if (const std::string why = refused_cluster(function, cluster, grid); !why.empty()) {
    explain(std::string(name) + " with " + why);
    return cudaErrorInvalidClusterSize;
  }
  if (mode.cooperative) {
    // Without registers: an estimate refuses no launch.
    const Occupancy o = theoretical_occupancy(profile, static_cast<unsigned>(threads), all_shared);
    if (const double most = profile.sms * o.blocks_per_sm; static_cast<double>(grid.x) * grid.y * grid.z > most) {
      explain(std::string(name) + ": all blocks of a cooperative launch run at once, and " +
              std::to_string(static_cast<std::size_t>(most)) + " such blocks fit");
      return cudaErrorCooperativeLaunchTooLarge;
    }
  }
  work.kind = WorkKind::kernel;
  work.config = {name, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, mode.cooperative};
  work.config.cluster = cluster;
  work.function = function;
  return cudaSuccess;
}

cudaError_t kernel_work(Work& work, const void* function, dim3 grid, dim3 block, std::size_t shared, void** arguments,
                        LaunchMode mode) {
  auto at = functions().find(reinterpret_cast<std::uintptr_t>(function));
  if (at == functions().end() || at->second.entry.pack == nullptr) return cudaErrorInvalidDeviceFunction;
  Function& f = at->second;
  if (arguments == nullptr && f.entry.arguments != 0) return cudaErrorInvalidValue;
  if (f.name.empty()) f.name = function_name(at->first);
  if (cudaError_t error = kernel_work(work, f.name.c_str(), grid, block, shared, at->first, mode)) return error;
  work.closure = closure_memory(f.entry.closure_bytes);
  f.entry.pack(work.closure.get(), f.entry.function, arguments);
  work.closure_bytes = f.entry.closure_bytes;
  work.run = f.entry.run;
  return cudaSuccess;
}

CUstream_st* launch_stream(Engine& engine, cudaStream_t handle) {
  CUstream_st* stream = engine.streams.find(handle);
  return stream != nullptr && stream->device == current_device() ? stream : nullptr;
}

cudaError_t launch(Engine& engine, const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                   cudaStream_t stream, LaunchMode mode) {
  CUstream_st* s = launch_stream(engine, stream);
  if (s == nullptr) return cudaErrorInvalidResourceHandle;
  Work work;
  if (cudaError_t error = kernel_work(work, function, grid, block, shared, arguments, mode)) return error;
  const char* name = work.config.kernel;
  return enqueue(*s, std::move(work), name, device_profile().launch_call);
}

}  // namespace ridge::simt::api

namespace ridge_simt {

namespace api = ridge::simt::api;

namespace {

// A launch asks which kernel it is by starting it, until it calls a function for instrumented code: a kernel without
// would run to its end there.
[[noreturn]] void refuse_mixed(const KernelEntry& entry) {
  const ridge::simt::Program& p = ridge::simt::Program::instance();
  std::string counted;
  for (std::size_t i = 0; i < p.functions.size() && counted.empty(); ++i)
    counted = source_of(static_cast<std::uint32_t>(p.functions[i] - p.base));
  counted = counted.substr(counted.rfind('/') + 1);
  const std::string kernel =
      entry.name != nullptr ? entry.name : function_name(reinterpret_cast<std::uintptr_t>(entry.function));
  std::fprintf(stderr,
               "ridge: kernel %s was built with --plain, and %s without\n"
               "  a program counts all of its kernels or none: build all its files with --plain, or all without\n",
               kernel.c_str(), counted.empty() ? "other files" : counted.substr(0, counted.rfind(':')).c_str());
  std::_Exit(1);
}

}  // namespace

void add_kernel(const KernelEntry& entry) {
  if (api::refusal() != cudaSuccess) return;
  std::lock_guard lock(Engine::instance().mutex);
  api::Function& f = api::functions()[reinterpret_cast<std::uintptr_t>(entry.function)];
  if (f.entry.pack == nullptr) {
    f.entry = entry;
    note_kernel(reinterpret_cast<std::uintptr_t>(entry.function));
  }
  if (entry.name != nullptr && f.name.empty()) f.name = entry.name;
  if (entry.cluster[0] > 0)
    f.cluster = {static_cast<unsigned>(entry.cluster[0]), static_cast<unsigned>(entry.cluster[1]),
                 static_cast<unsigned>(entry.cluster[2])};
  if (entry.most_threads > 0) f.most_threads = entry.most_threads, f.least_blocks = entry.least_blocks;
}

void add_uncounted_kernel(const KernelEntry& entry) {
  if (ridge::simt::Program::counts()) refuse_mixed(entry);
  add_kernel(entry);
}

void launch(const char* kernel, dim3 grid, dim3 block, size_t shared, cudaStream_t, void (*run)(void*), void* closure,
            size_t closure_bytes);

namespace {

struct Wanted {
  const char* kernel;
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
};

// A kernel launches another one: kept until its grid has ended.
void launch_child(BlockRunner& runner, const Wanted& w, void (*run)(void*), void* closure, size_t closure_bytes,
                  std::uintptr_t pc) {
  static std::mutex mutex;  // blocks run on several threads of the host, which waits for all of them
  Fault fault;
  fault.cause = ridge::Cause::kernel_launch;
  fault.kind = "launch from a kernel";
  fault.pc = static_cast<std::uint32_t>(pc - program_base());
  const Launch& parent = runner.launch();
  if (parent.children == nullptr) {
    fault.detail = "launch " + std::string(w.kernel) + " from the host: in labs, kernels launch no kernels";
    fault.error = cudaErrorNotSupported;
    runner.fault(std::move(fault));
  }
  ridge::simt::Work work;
  {
    std::lock_guard lock(mutex);
    // Which kernel it is cannot be asked here: its closure would run.
    const cudaError_t error = api::kernel_work(work, w.kernel, w.grid, w.block, w.shared, 0, false);
    if (error != cudaSuccess) {
      fault.detail = std::string(cudaGetErrorName(error)) + ": " + w.kernel + " with a grid of " +
                     api::in_words(w.grid) + " blocks of " + api::in_words(w.block) + " threads and " +
                     std::to_string(w.shared) + " bytes of dynamic shared memory";
      fault.error = error;
    }
  }
  if (!fault.detail.empty()) runner.fault(std::move(fault));
  const Index3 at = runner.block_index(), of = parent.grid;
  ChildLaunch child{work.config,           run,   api::closure_memory(closure_bytes),
                    closure_bytes,         false, (std::uint64_t{at.z} * of.y + at.y) * of.x + at.x,
                    runner.thread().linear};
  child.config.device = parent.device;
  child.config.reachable = parent.reachable;
  child.tail = w.stream == cudaStreamTailLaunch;
  std::memcpy(child.closure.get(), closure, closure_bytes);
  parent.children->add(std::move(child));
}

}  // namespace

void launch(const char* kernel, dim3 grid, dim3 block, size_t shared, cudaStream_t stream, void (*run)(void*),
            void* closure, size_t closure_bytes) {
  if (auto* runner = BlockRunner::current(); runner != nullptr && runner->in_kernel())
    return launch_child(*runner, {kernel, grid, block, shared, stream}, run, closure, closure_bytes,
                        reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1);
  api::call([&](Engine& engine) {
    CUstream_st* s = api::launch_stream(engine, stream);
    if (s == nullptr) return cudaErrorInvalidResourceHandle;
    ridge::simt::Work work;
    const std::uintptr_t function = kernel_of(run, closure);
    if (cudaError_t error = api::kernel_work(work, kernel, grid, block, shared, function, false)) return error;
    work.closure = api::closure_memory(closure_bytes);
    std::memcpy(work.closure.get(), closure, closure_bytes);
    work.closure_bytes = closure_bytes;
    work.run = run;
    return api::enqueue(*s, std::move(work), kernel, device_profile().launch_call);
  });
}

bool is_kernel(const void* function) {
  std::lock_guard lock(Engine::instance().mutex);
  const auto at = api::functions().find(reinterpret_cast<std::uintptr_t>(function));
  return at != api::functions().end() && at->second.entry.pack != nullptr;
}

Parameters parameters_of(const void* kernel) {
  std::lock_guard lock(Engine::instance().mutex);
  const auto at = api::functions().find(reinterpret_cast<std::uintptr_t>(kernel));
  if (at == api::functions().end() || at->second.entry.parameters == nullptr) return {nullptr, nullptr};
  const KernelEntry& e = at->second.entry;
  return {e.parameters, e.parameters + e.arguments};
}

cudaError_t max_potential_block_size(int* grid, int* block, const void* function, size_t (*shared_of)(const void*, int),
                                     const void* shared, int limit) {
  return api::call([&](Engine&) {
    if (grid == nullptr || block == nullptr || function == nullptr) return cudaErrorInvalidValue;
    const DeviceProfile& profile = device_profile();
    const auto address = reinterpret_cast<std::uintptr_t>(function);
    const KernelResources needs = api::bounded_resources(address);
    int most = api::most_threads(address);
    if (limit > 0) most = std::min(most, limit);
    unsigned best = 0;
    // The largest block of those with the most resident threads, in steps of a warp.
    for (int step = (most + 31) / 32 * 32; step > 0; step -= 32) {
      const int threads = std::min(step, most);
      const Occupancy o = theoretical_occupancy(profile, static_cast<unsigned>(threads),
                                                needs.static_shared + shared_of(shared, threads), needs.registers);
      const unsigned resident = o.blocks_per_sm * static_cast<unsigned>(threads);
      if (resident <= best) continue;
      best = resident;
      *block = threads;
      *grid = static_cast<int>(o.blocks_per_sm * profile.sms);
    }
    return best == 0 ? cudaErrorInvalidConfiguration : cudaSuccess;
  });
}

}  // namespace ridge_simt

extern "C" {

cudaError_t cudaLaunchKernel(const void* f, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t s) {
  return api::call([&](Engine& engine) { return api::launch(engine, f, grid, block, arguments, shared, s, false); });
}
cudaError_t cudaLaunchCooperativeKernel(const void* f, dim3 grid, dim3 block, void** arguments, size_t shared,
                                        cudaStream_t s) {
  return api::call([&](Engine& engine) { return api::launch(engine, f, grid, block, arguments, shared, s, true); });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attr, int value) {
  return api::call([&](Engine&) {
    if (function == nullptr) return cudaErrorInvalidDeviceFunction;
    const auto address = reinterpret_cast<std::uintptr_t>(function);
    api::Function& f = api::functions()[address];
    switch (attr) {
      case cudaFuncAttributeMaxDynamicSharedMemorySize:
        if (value < 0 || static_cast<double>(value) + static_cast<double>(resources_of(address).static_shared) >
                             device_profile().shared_per_block_optin)
          return cudaErrorInvalidValue;
        f.max_dynamic_shared = value;
        api::highest_limit = std::max(api::highest_limit, value);
        return cudaSuccess;
      case cudaFuncAttributePreferredSharedMemoryCarveout:
        if (value < -1 || value > 100) return cudaErrorInvalidValue;
        f.carveout = value;
        return cudaSuccess;
      case cudaFuncAttributeNonPortableClusterSizeAllowed:
        if (value != 0 && value != 1) return cudaErrorInvalidValue;
        f.large_clusters = value != 0;
        return cudaSuccess;
      default:  // clusters
        return attr >= cudaFuncAttributeClusterDimMustBeSet &&
                       attr <= cudaFuncAttributeClusterSchedulingPolicyPreference
                   ? cudaErrorNotSupported
                   : cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* out, const void* function) {
  return api::call([&](Engine&) {
    if (out == nullptr || function == nullptr) return cudaErrorInvalidDeviceFunction;
    const auto address = reinterpret_cast<std::uintptr_t>(function);
    const DeviceProfile& profile = device_profile();
    *out = {};
    const KernelResources needs = api::bounded_resources(address);
    out->sharedSizeBytes = needs.static_shared;
    out->numRegs = static_cast<int>(needs.registers);
    out->maxThreadsPerBlock = api::most_threads(address);
    out->ptxVersion = out->binaryVersion = static_cast<int>(profile.major * 10 + profile.minor);
    out->maxDynamicSharedSizeBytes = static_cast<int>(api::dynamic_shared_limit(address));
    auto at = api::functions().find(address);
    out->preferredShmemCarveout = at == api::functions().end() ? -1 : at->second.carveout;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache config) {
  return api::call([&](Engine&) {
    if (function == nullptr) return cudaErrorInvalidDeviceFunction;
    api::functions()[reinterpret_cast<std::uintptr_t>(function)].cache = config;
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int block_size,
                                                                   size_t dynamic_shared, unsigned flags) {
  return api::call([&](Engine&) {
    if (blocks == nullptr || block_size <= 0 || flags > cudaOccupancyDisableCachingOverride)
      return cudaErrorInvalidValue;
    if (function == nullptr) return cudaErrorInvalidDeviceFunction;
    const auto address = reinterpret_cast<std::uintptr_t>(function);
    const KernelResources needs = api::bounded_resources(address);
    const std::size_t shared = dynamic_shared + needs.static_shared;
    const bool allowed = dynamic_shared <= api::dynamic_shared_limit(address);
    const Occupancy o =
        theoretical_occupancy(device_profile(), static_cast<unsigned>(block_size), shared, needs.registers);
    *blocks = allowed ? static_cast<int>(o.blocks_per_sm) : 0;
    return cudaSuccess;
  });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int block_size,
                                                          size_t dynamic_shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, dynamic_shared, 0);
}
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function, int blocks, int block_size) {
  return api::call([&](Engine&) {
    if (bytes == nullptr || blocks <= 0 || block_size <= 0) return cudaErrorInvalidValue;
    if (function == nullptr) return cudaErrorInvalidDeviceFunction;
    const DeviceProfile& profile = device_profile();
    const KernelResources needs = api::bounded_resources(reinterpret_cast<std::uintptr_t>(function));
    const auto fits = [&](std::size_t dynamic) {
      const Occupancy o = theoretical_occupancy(profile, static_cast<unsigned>(block_size),
                                                needs.static_shared + dynamic, needs.registers);
      return o.blocks_per_sm >= static_cast<unsigned>(blocks);
    };
    if (!fits(0)) return cudaErrorInvalidValue;
    std::size_t low = 0, high = static_cast<std::size_t>(profile.shared_per_block_optin);
    while (low < high) {
      const std::size_t middle = (low + high + 1) / 2;
      if (fits(middle))
        low = middle;
      else
        high = middle - 1;
    }
    *bytes = low;
    return cudaSuccess;
  });
}
}
