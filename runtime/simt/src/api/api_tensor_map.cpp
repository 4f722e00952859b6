// Tensor maps, and the driver's functions that come through the runtime.
#include <cstring>

#include "api/api.hpp"
#include "cuda.h"
#include "hopper/tensor_map.hpp"

using namespace ridge::simt;

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                const cuuint64_t* size, const cuuint64_t* pitch, const cuuint32_t* box,
                                const cuuint32_t* step, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  static_assert(sizeof(cuuint64_t) == sizeof(std::uint64_t));
  const cudaError_t error = api::call([&](Engine&) {
    if (map == nullptr || reinterpret_cast<std::uintptr_t>(map) % 64 != 0) {
      api::explain("cuTensorMapEncodeTiled: the CUtensorMap lies at a multiple of 64 bytes");
      return cudaErrorInvalidValue;
    }
    TensorMap encoded;
    std::string why =
        TensorMap::encode(encoded, static_cast<unsigned>(type), rank, reinterpret_cast<std::uintptr_t>(address), size,
                          pitch, box, step, static_cast<unsigned>(interleave), static_cast<unsigned>(swizzle),
                          static_cast<unsigned>(promotion), static_cast<unsigned>(fill));
    if (!why.empty()) {
      api::explain("cuTensorMapEncodeTiled: " + why);
      return cudaErrorInvalidValue;
    }
    std::memset(static_cast<void*>(map), 0, sizeof *map);
    std::memcpy(static_cast<void*>(map), &encoded, sizeof encoded);
    return cudaSuccess;
  });
  return static_cast<CUresult>(error);
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                 const cuuint64_t*, const int*, const int*, cuuint32_t, cuuint32_t, const cuuint32_t*,
                                 CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                                 CUtensorMapFloatOOBfill) {
  api::explain(
      "cuTensorMapEncodeIm2col is not part of the emulator: describe the tensor with cuTensorMapEncodeTiled, and copy "
      "boxes of it");
  return static_cast<CUresult>(api::keep(cudaErrorNotSupported));
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  const cudaError_t error = api::call([&](Engine&) {
    TensorMap m;
    if (map == nullptr) return cudaErrorInvalidValue;
    std::memcpy(static_cast<void*>(&m), map, sizeof m);
    if (!m.is_valid() || !m.move_to(reinterpret_cast<std::uintptr_t>(address))) return cudaErrorInvalidValue;
    std::memcpy(static_cast<void*>(map), &m, sizeof m);
    return cudaSuccess;
  });
  return static_cast<CUresult>(error);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* found) {
  return api::call([&](Engine&) {
    if (symbol == nullptr || function == nullptr) return cudaErrorInvalidValue;
    *function =
        std::strcmp(symbol, "cuTensorMapEncodeTiled") == 0      ? reinterpret_cast<void*>(&cuTensorMapEncodeTiled)
        : std::strcmp(symbol, "cuTensorMapEncodeIm2col") == 0   ? reinterpret_cast<void*>(&cuTensorMapEncodeIm2col)
        : std::strcmp(symbol, "cuTensorMapReplaceAddress") == 0 ? reinterpret_cast<void*>(&cuTensorMapReplaceAddress)
                                                                : nullptr;
    if (found != nullptr)
      *found = *function == nullptr ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* found) {
  return cudaGetDriverEntryPointByVersion(symbol, function, 12000, flags, found);
}
}
