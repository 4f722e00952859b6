// A function for both sides that returns one thing on the device and another one on the host:
//
//   #if defined(__CUDA_ARCH__)       if (::ridge_simt::on_device()) {
//     return threadIdx.x == 0;         return threadIdx.x == 0;
//   #else                     ->     } else {
//     return false;                    return false;
//   #endif                           }
//
// nvcc compiles it twice; here it is compiled once, and asks when it runs.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "simt/rewrite/text/functions.hpp"

namespace ridge::simt {

struct ReplacedLine {
  std::size_t at = 0, end = 0;  // from the # to the end of the directive
  std::string text;
};

// The directives of such groups, by place. Others stay: those with #elif, with inline PTX, with more directives within,
// or whose branches do not end by returning.
std::vector<ReplacedLine> two_sided_returns(std::string_view s, const std::vector<Kind>& kind,
                                            const SourceFunctions& functions);

}  // namespace ridge::simt
