// The C++ side of the runtime API: typed overloads, kernels by address, symbols. Included by cuda_runtime.h.
#pragma once
#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "arguments.h"
#include "cuda_runtime_api.h"

namespace ridge_simt {

struct Parameter {
  unsigned bytes, alignment;
};
template <class... P>
inline constexpr Parameter kParameters[] = {{(unsigned)sizeof(P), (unsigned)alignof(P)}..., {0, 1}};

// How to call a kernel whose arguments come as void**, which is all that cudaLaunchKernel and graph nodes give.
struct KernelEntry {
  const char* name;  // may be null
  void (*function)();
  size_t closure_bytes;
  size_t arguments;
  void (*pack)(void* closure, void (*function)(), void** arguments);
  void (*run)(void* closure);
  int most_threads, least_blocks;  // __launch_bounds__; 0 where there are none
  const Parameter* parameters;     // as many as `arguments`
  int cluster[3];                  // __cluster_dims__; zeros where there are none
};
void add_kernel(const KernelEntry& entry);  // the first entry of an address stays; a later one may add its name
void add_uncounted_kernel(const KernelEntry& entry);  // of a file that was built with --plain

// Host functions that know a symbol's size. `direction` is checked against the call.
cudaError_t copy_to_symbol(void* symbol, size_t size, const void* from, size_t bytes, size_t offset,
                           enum cudaMemcpyKind kind, cudaStream_t stream, bool async);
cudaError_t copy_from_symbol(void* to, const void* symbol, size_t size, size_t bytes, size_t offset,
                             enum cudaMemcpyKind kind, cudaStream_t stream, bool async);
cudaError_t symbol_address(void** pointer, const void* symbol, size_t size);
cudaError_t symbol_size(size_t* size, size_t bytes);
bool is_kernel(const void* function);
struct Parameters {
  const Parameter *first, *last;
  const Parameter* begin() const { return first; }
  const Parameter* end() const { return last; }
};
Parameters parameters_of(const void* kernel);  // none where it is no kernel
cudaError_t max_potential_block_size(int* grid, int* block, const void* function, size_t (*shared_of)(const void*, int),
                                     const void* shared, int limit);

template <class... P>
struct PointerClosure {
  void (*call)(P...);
  Arguments<std::remove_cv_t<P>...> arguments;

  static void pack(void* to, void (*function)(), void** given) {
    new (to) PointerClosure{reinterpret_cast<void (*)(P...)>(function),
                            pack_pointers(static_cast<Arguments<std::remove_cv_t<P>...>*>(nullptr), given)};
  }
  RIDGE_UNCOUNTED static void run(void* self) {
    auto& c = *static_cast<PointerClosure*>(self);
    call_with(c.call, c.arguments);
  }
};

// __launch_bounds__ and __cluster_dims__ of a kernel.
struct Bounds {
  int most_threads, least_blocks, cluster[3];
  constexpr Bounds(long long threads = 0, long long blocks = 0, long long /*of a cluster*/ = 0, long long x = 0,
                   long long y = 1, long long z = 1)
      : most_threads((int)threads), least_blocks((int)blocks), cluster{(int)x, (int)y, (int)z} {}
  constexpr Bounds clustered(long long x = 0, long long y = 1, long long z = 1) const {
    return {most_threads, least_blocks, 0, x, y, z};
  }
};

template <class... P>
inline KernelEntry entry_with_name(const char* name, void (*function)(P...), Bounds bounds) {
  using Closure = PointerClosure<P...>;
  return {name, reinterpret_cast<void (*)()>(function), sizeof(Closure), sizeof...(P), &Closure::pack, &Closure::run,
          bounds.most_threads, bounds.least_blocks, kParameters<std::remove_cv_t<P>...>,
          {bounds.cluster[0], bounds.cluster[1], bounds.cluster[2]}};
}

// Not merged with those of files that were built the other way.
#ifdef RIDGE_PLAIN
inline namespace uncounted {
#else
inline namespace counted {
#endif

// Makes a kernel known by its address: the rewriter calls it behind a definition.
template <class... P>
inline bool register_kernel(const char* name, void (*function)(P...), Bounds bounds = {}) {
#ifdef RIDGE_PLAIN
  add_uncounted_kernel(entry_with_name(name, function, bounds));
#else
  add_kernel(entry_with_name(name, function, bounds));
#endif
  return true;
}

// The rewritten body of a kernel template names this object, so that there is one for each instance whose address is
// taken.
template <auto kKernel, long long... kBounds>
inline const bool registered = register_kernel(nullptr, kKernel, Bounds(kBounds...));

}  // namespace uncounted or counted

template <class T>
inline const void* entry_of(T* function) {
  if constexpr (std::is_function_v<T>) add_kernel(entry_with_name(nullptr, function, {}));
  return (const void*)function;
}

}  // namespace ridge_simt

template <class T>
inline cudaError_t cudaMalloc(T** p, size_t bytes) { return cudaMalloc((void**)p, bytes); }
template <class T>
inline cudaError_t cudaMallocPitch(T** p, size_t* pitch, size_t width, size_t height) {
  return cudaMallocPitch((void**)p, pitch, width, height);
}
template <class T>
inline cudaError_t cudaMallocHost(T** p, size_t bytes, unsigned flags = 0) {
  return cudaHostAlloc((void**)p, bytes, flags);
}
inline cudaError_t cudaMallocHost(void** p, size_t bytes, unsigned flags) { return cudaHostAlloc(p, bytes, flags); }
template <class T>
inline cudaError_t cudaHostAlloc(T** p, size_t bytes, unsigned flags) {
  return cudaHostAlloc((void**)p, bytes, flags);
}
template <class T>
inline cudaError_t cudaHostGetDevicePointer(T** p, void* host, unsigned flags) {
  return cudaHostGetDevicePointer((void**)p, host, flags);
}
template <class T>
inline cudaError_t cudaMallocManaged(T** p, size_t bytes, unsigned flags = cudaMemAttachGlobal) {
  return cudaMallocManaged((void**)p, bytes, flags);
}
template <class T>
inline cudaError_t cudaMallocAsync(T** p, size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync((void**)p, bytes, stream);
}
template <class T>
inline cudaError_t cudaMallocAsync(T** p, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return cudaMallocFromPoolAsync((void**)p, bytes, pool, stream);
}
template <class T>
inline cudaError_t cudaMallocFromPoolAsync(T** p, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return cudaMallocFromPoolAsync((void**)p, bytes, pool, stream);
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) {
  return cudaEventCreateWithFlags(event, flags);
}

// Symbols.
template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                                      enum cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return ridge_simt::copy_to_symbol((void*)&symbol, sizeof(T), from, bytes, offset, kind, nullptr, false);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes, size_t offset,
                                           enum cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  return ridge_simt::copy_to_symbol((void*)&symbol, sizeof(T), from, bytes, offset, kind, stream, true);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                        enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return ridge_simt::copy_from_symbol(to, (const void*)&symbol, sizeof(T), bytes, offset, kind, nullptr, false);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes, size_t offset,
                                             enum cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  return ridge_simt::copy_from_symbol(to, (const void*)&symbol, sizeof(T), bytes, offset, kind, stream, true);
}
template <class T>
inline cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol) {
  return ridge_simt::symbol_address(pointer, (const void*)&symbol, sizeof(T));
}
template <class T>
inline cudaError_t cudaGetSymbolSize(size_t* size, const T&) { return ridge_simt::symbol_size(size, sizeof(T)); }

// Kernels by address.
template <class T>
inline cudaError_t cudaLaunchKernel(T* function, dim3 grid, dim3 block, void** arguments, size_t shared = 0,
                                    cudaStream_t stream = nullptr) {
  return cudaLaunchKernel(ridge_simt::entry_of(function), grid, block, arguments, shared, stream);
}
template <class T>
inline cudaError_t cudaLaunchCooperativeKernel(T* function, dim3 grid, dim3 block, void** arguments, size_t shared = 0,
                                               cudaStream_t stream = nullptr) {
  return cudaLaunchCooperativeKernel(ridge_simt::entry_of(function), grid, block, arguments, shared, stream);
}
// Arguments become the kernel's parameters here, at the call.
template <class... P, class... A>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(P...), A&&... arguments) {
  const void* entry = ridge_simt::entry_of(kernel);
  return [&](P... converted) {
    void* pointers[sizeof...(P) + 1] = {&converted...};
    return cudaLaunchKernelExC(config, entry, pointers);
  }(std::forward<A>(arguments)...);
}
template <class T>
inline cudaError_t cudaFuncSetAttribute(T* function, enum cudaFuncAttribute attr, int value) {
  return cudaFuncSetAttribute(ridge_simt::entry_of(function), attr, value);
}
template <class T>
inline cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* attributes, T* function) {
  return cudaFuncGetAttributes(attributes, ridge_simt::entry_of(function));
}
template <class T>
inline cudaError_t cudaFuncSetCacheConfig(T* function, enum cudaFuncCache config) {
  return cudaFuncSetCacheConfig(ridge_simt::entry_of(function), config);
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T function, int block_size,
                                                                 size_t dynamic_shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, ridge_simt::entry_of(function), block_size,
                                                       dynamic_shared);
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, T function, int block_size,
                                                                          size_t dynamic_shared, unsigned flags) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, ridge_simt::entry_of(function), block_size,
                                                                dynamic_shared, flags);
}
template <class T>
inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, T* function, int blocks, int block_size) {
  return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, ridge_simt::entry_of(function), blocks, block_size);
}
template <class F, class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, T function, F shared_of_block,
                                                                  int limit = 0) {
  auto call = [](const void* f, int threads) { return static_cast<size_t>((*static_cast<const F*>(f))(threads)); };
  return ridge_simt::max_potential_block_size(grid, block, ridge_simt::entry_of(function), call, &shared_of_block,
                                              limit);
}
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, T function, size_t dynamic_shared = 0,
                                                      int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      grid, block, function, [dynamic_shared](int) { return dynamic_shared; }, limit);
}

// The signatures of CUDA 10 and 11 beside those of 12 and 13.
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphNode_t* error_node,
                                        char* log, size_t log_bytes) {
  if (error_node != nullptr) *error_node = nullptr;
  if (log != nullptr && log_bytes != 0) *log = 0;
  return cudaGraphInstantiate(exec, graph, 0ull);
}
inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t* error_node,
                                       enum cudaGraphExecUpdateResult* result) {
  cudaGraphExecUpdateResultInfo info{};
  const cudaError_t error = cudaGraphExecUpdate(exec, graph, &info);
  if (error_node != nullptr) *error_node = info.errorNode;
  if (result != nullptr) *result = info.result;
  return error;
}
inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                            size_t count) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}
inline cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                               const cudaGraphNode_t* to, size_t count) {
  return cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
}
inline cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, size_t* count) {
  return cudaGraphGetEdges(graph, from, to, nullptr, count);
}
inline cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies, size_t* count) {
  return cudaGraphNodeGetDependencies(node, dependencies, nullptr, count);
}
inline cudaError_t cudaMemPrefetchAsync(const void* p, size_t bytes, int device, cudaStream_t stream = nullptr) {
  cudaMemLocation where = {device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice,
                           device == cudaCpuDeviceId ? 0 : device};
  return cudaMemPrefetchAsync(p, bytes, where, 0, stream);
}
inline cudaError_t cudaMemAdvise(const void* p, size_t bytes, enum cudaMemoryAdvise advice, int device) {
  cudaMemLocation where = {device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice,
                           device == cudaCpuDeviceId ? 0 : device};
  return cudaMemAdvise(p, bytes, advice, where);
}
