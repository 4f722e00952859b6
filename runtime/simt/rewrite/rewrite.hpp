// Turns CUDA C++ into C++ that any compiler takes. Only two constructs need it; line numbers are kept.
//
//   kernel<T><<<grid, block, shared, stream>>>(args)
//     -> ::ridge_simt::Launch("kernel<T>", grid, block, shared, stream)([=](auto... a) { kernel<T>(a...); })(args)
//   extern __shared__ T name[];   -> extern __thread T name[];   (all such arrays alias the dynamic shared memory)
#pragma once
#include <string>
#include <string_view>

namespace ridge::simt {

// `name` is what compile errors and counters call the file. Never fails: what it does not recognise stays as it is, for
// the compiler to report.
std::string rewrite_cuda(std::string_view source, std::string_view name);

}  // namespace ridge::simt
