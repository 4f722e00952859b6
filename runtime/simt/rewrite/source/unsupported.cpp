#include "unsupported.hpp"

#include <algorithm>
#include <iterator>

namespace ridge::simt {

namespace {

struct Entry {
  std::string_view name;  // a header's first letters
  std::string_view advice;
};

constexpr Entry kHeaders[] = {
    {"cub/", "write the reduction, scan or sort as a kernel"},
    {"thrust/", "write the algorithm as a kernel, or use the C++ library on the host"},
    {"cuda/",
     "of libcu++ there are <cuda/atomic>, <cuda/barrier> and <cuda/pipeline>; else use the built-in functions "
     "(__syncthreads, atomicAdd, ...)"},
    {"curand", "curand.h and curand_kernel.h have XORWOW, Philox and MRG32k3a"},
    {"cutlass/", "write the tiled loop as a kernel"},
    {"cute/", "write the index arithmetic in the kernel"},
    {"cufft", "<cufft.h> has the transforms of one to three dimensions"},
    {"cusparse", "write the sparse product as a kernel"},
    {"cusolver", "<cusolverDn.h> has the dense solvers; else run the solver on the host"},
    {"cudnn", "write the layer as a kernel"},
    {"npp", "write the filter as a kernel"},
    {"texture_", "read the array through a pointer (const float* __restrict__)"},
    {"surface_", "write the array through a pointer"},
};

// The ones of these that the emulator has.
constexpr std::string_view kThere[] = {"cub/cub.cuh",
                                       "cub/util_allocator.cuh",
                                       "cub/util_type.cuh",
                                       "cub/util_macro.cuh",
                                       "cub/util_debug.cuh",
                                       "cub/util_ptx.cuh",
                                       "cub/block/block_exchange.cuh",
                                       "cub/block/block_adjacent_difference.cuh",
                                       "cub/warp/warp_exchange.cuh",
                                       "cub/thread/thread_operators.cuh",
                                       "cub/iterator/counting_input_iterator.cuh",
                                       "cub/iterator/transform_input_iterator.cuh",
                                       "cub/iterator/constant_input_iterator.cuh",
                                       "cub/block/block_load.cuh",
                                       "cub/block/block_radix_sort.cuh",
                                       "cub/block/block_reduce.cuh",
                                       "cub/block/block_scan.cuh",
                                       "cub/block/block_store.cuh",
                                       "cub/device/device_histogram.cuh",
                                       "cub/device/device_radix_sort.cuh",
                                       "cub/device/device_reduce.cuh",
                                       "cub/device/device_run_length_encode.cuh",
                                       "cub/device/device_scan.cuh",
                                       "cub/device/device_select.cuh",
                                       "cub/warp/warp_reduce.cuh",
                                       "cub/warp/warp_scan.cuh",
                                       "cuda/atomic",
                                       "cuda/barrier",
                                       "cuda/pipeline",
                                       "cuda/std/atomic",
                                       "cuda/std/barrier",
                                       "curand.h",
                                       "curand_kernel.h",
                                       "surface_indirect_functions.h",
                                       "surface_types.h",
                                       "texture_indirect_functions.h",
                                       "texture_types.h"};

constexpr std::string_view kTexture =
    "CUDA 12 has no texture references any more: make a texture object (cudaCreateTextureObject)";
constexpr std::string_view kSurface =
    "CUDA 12 has no surface references any more: make a surface object (cudaCreateSurfaceObject)";
constexpr std::string_view kCubemap = "read the six faces as the layers of a layered array (tex2DLayered)";
constexpr std::string_view kLevels = "read each level as a texture of its own";
constexpr std::string_view kIm2col = "describe the tensor with cuTensorMapEncodeTiled, and copy boxes of it";

constexpr std::string_view kSpeedAlone =
    "attributes of streams and nodes, as L2 windows, change speed alone on a GPU: leave these lines out";

constexpr Entry kWords[] = {
    {"asm",
     "inline PTX needs a GPU, but for common instructions (arithmetic, ld, st, atom, shfl, mma.sync, ldmatrix, "
     "cp.async, TMA, mbarrier, wgmma, ...); use the CUDA function or the C++ that does the same"},
    {"texture", kTexture},
    {"cudaBindTexture", kTexture},
    {"cudaBindTexture2D", kTexture},
    {"cudaBindTextureToArray", kTexture},
    {"texCubemap", kCubemap},
    {"texCubemapLayered", kCubemap},
    {"surfCubemapread", kCubemap},
    {"surfCubemapwrite", kCubemap},
    {"cudaMallocMipmappedArray", kLevels},
    {"cudaGetMipmappedArrayLevel", kLevels},
    {"surface", kSurface},
    {"cudaStreamAttrID", kSpeedAlone},
    {"cudaStreamAttrValue", kSpeedAlone},
    {"cudaStreamSetAttribute", kSpeedAlone},
    {"cudaStreamGetAttribute", kSpeedAlone},
    {"cudaStreamCopyAttributes", kSpeedAlone},
    {"cudaKernelNodeAttrID", kSpeedAlone},
    {"cudaKernelNodeAttrValue", kSpeedAlone},
    {"cudaGraphKernelNodeSetAttribute", kSpeedAlone},
    {"cudaGraphKernelNodeGetAttribute", kSpeedAlone},
    {"cudaAccessPolicyWindow", kSpeedAlone},
    {"cudaCtxResetPersistingL2Cache", kSpeedAlone},
    {"cuTensorMapEncodeIm2colWide", kIm2col},
};

}  // namespace

std::string unsupported_header(std::string_view header) {
  if (std::find(std::begin(kThere), std::end(kThere), header) != std::end(kThere)) return {};
  for (const Entry& e : kHeaders)
    if (header.substr(0, e.name.size()) == e.name)
      return "<" + std::string(header) + "> is " + std::string(kUnsupportedMark) + std::string(e.advice);
  return {};
}

std::string unsupported_word(std::string_view word) {
  if (word == "__asm__" || word == "__asm") word = "asm";
  for (const Entry& e : kWords)
    if (word == e.name) return std::string(word) + " is " + std::string(kUnsupportedMark) + std::string(e.advice);
  return {};
}

}  // namespace ridge::simt
