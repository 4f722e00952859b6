// Turns CUDA C++ into C++ that any compiler takes. Line numbers are kept.
//
//   kernel<T><<<grid, block, shared, stream>>>(args)
//     -> ::ridge_simt::Launch("kernel<T>", grid, block, shared, stream)([=](auto... a) { kernel<T>(a...); })(args)
//        with an argument 0 or NULL marked, since a pointer parameter takes it (include/ridge_simt/rewritten.h)
//   extern __shared__ T name[];   -> extern __thread T name[];   (all such arrays alias the dynamic shared memory)
//   #include "file"               -> the file's rewritten copy, where there is one
//   #pragma unroll                -> RIDGE_UNROLL_ALL, which is that compiler's pragma (include/ridge_simt/rewritten.h)
//   asm("red.add ...")            -> the atomic function that does the same (inline_ptx.hpp)
//   __CUDA_ARCH__                 -> RIDGE_CUDA_ARCH, in functions for the device alone, and outside of functions where
//                                    architecture.hpp says so
//   asm("..."), tex2D, <cub/cub.cuh>, ... -> a compile error that says so, where the preprocessor keeps the line
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "architecture.hpp"
#include "sides.hpp"

namespace ridge::simt {

// Says where an include leads: to the file to include instead, or nowhere else (empty). Nothing: there is no such file.
using IncludeFinder = std::function<std::optional<std::string>(std::string_view file, bool in_quotes)>;

// A file's functions, and those of its calls that may cross between host and device. Places refer to the rewritten
// text.
struct FileSides {
  SourceFunctions functions;
  std::vector<SideUse> uses;
  std::vector<SourceNote> notes;
  std::vector<std::size_t> child_launches;  // by functions for the device alone
};

// An error at these places of the rewritten `text`, where the preprocessor lets the line through.
std::string with_errors(std::string text, const std::vector<std::pair<std::size_t, std::string>>& errors);

// `name` is what compile errors and counters call the file. Never fails: what it does not recognise stays as it is, for
// the compiler to report.
std::string rewrite_cuda(std::string_view source, std::string_view name, const IncludeFinder& find = {},
                         FileSides* sides = nullptr);

}  // namespace ridge::simt
