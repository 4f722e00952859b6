// __CUDA_ARCH__ outside of functions. nvcc reads a file twice, and the name is defined when it reads for the device;
// here a file is read once. So an #if that asks for it is read as for the device where it holds nothing that the host
// needs, and else as for the host. Where that may matter, it is noted.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "simt/rewrite/text/functions.hpp"

namespace ridge::simt {

constexpr std::string_view kArchitecture = "__CUDA_ARCH__";
constexpr std::string_view kArchitectureFeature = "__CUDA_ARCH_FEAT_SM90_ALL";

// Something to tell the user, which is no error.
struct SourceNote {
  std::size_t line = 0, column = 0;
  std::string text;
};

struct ArchitectureReading {
  std::vector<std::size_t> as_device;  // where __CUDA_ARCH__ is defined, by place
  std::vector<SourceNote> notes;
};

ArchitectureReading architecture_outside(std::string_view s, const std::vector<Kind>& kind,
                                         const SourceFunctions& functions);

}  // namespace ridge::simt
