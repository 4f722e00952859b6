// __device__ and __constant__ variables: they are variables of the program, and their address is the symbol.
#include "api/api.hpp"
#include "device/symbols.hpp"

using namespace ridge::simt;

namespace ridge_simt {

using namespace ridge::simt;

namespace {

cudaError_t copy(void* to, const void* from, size_t size, size_t bytes, size_t offset, cudaMemcpyKind kind,
                 cudaMemcpyKind wrong, const void* symbol, cudaStream_t stream, bool async) {
  return api::call([&](Engine& engine) {
    if (kind == wrong || kind == cudaMemcpyHostToHost || kind < 0 || kind > cudaMemcpyDefault)
      return cudaErrorInvalidMemcpyDirection;
    if (offset > size || bytes > size - offset) return cudaErrorInvalidValue;
    if (bytes == 0) return cudaSuccess;
    know_symbol(symbol, size);
    ridge::simt::Work work;
    if (cudaError_t error =
            api::copy_work(work, {static_cast<char*>(to), bytes, bytes},
                           {static_cast<char*>(const_cast<void*>(from)), bytes, bytes}, {bytes, 1, 1}, kind))
      return error;
    return api::submit_copy(engine, wrong == cudaMemcpyDeviceToHost ? "cudaMemcpyToSymbol" : "cudaMemcpyFromSymbol",
                            std::move(work), stream, async);
  });
}

}  // namespace

cudaError_t copy_to_symbol(void* symbol, size_t size, const void* from, size_t bytes, size_t offset,
                           cudaMemcpyKind kind, cudaStream_t stream, bool async) {
  return copy(static_cast<char*>(symbol) + offset, from, size, bytes, offset, kind, cudaMemcpyDeviceToHost, symbol,
              stream, async);
}

cudaError_t copy_from_symbol(void* to, const void* symbol, size_t size, size_t bytes, size_t offset,
                             cudaMemcpyKind kind, cudaStream_t stream, bool async) {
  return copy(to, static_cast<const char*>(symbol) + offset, size, bytes, offset, kind, cudaMemcpyHostToDevice, symbol,
              stream, async);
}

cudaError_t symbol_address(void** pointer, const void* symbol, size_t size) {
  return api::call([&](Engine&) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    know_symbol(symbol, size);
    *pointer = const_cast<void*>(symbol);
    return cudaSuccess;
  });
}

cudaError_t symbol_size(size_t* size, size_t bytes) {
  return api::call([&](Engine&) {
    if (size == nullptr) return cudaErrorInvalidValue;
    *size = bytes;
    return cudaSuccess;
  });
}

}  // namespace ridge_simt
