// Listings of device code as instructions with their source lines: PTX of nvcc and clang, SASS of nvdisasm.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ridge {

struct DeviceInstruction {
  std::string kernel;  // mangled
  int line = 0;        // of the source file
  std::string text;    // "ld.global.f32 %f1, [%rd2];", or a label with its colon
};

// The instructions that the lines of `file` (without folders) become, in the listing's order. An instruction of a
// header's function belongs to the line that calls it. Labels that a branch may name are listed, too.
std::vector<DeviceInstruction> ptx_listing(std::string_view ptx, std::string_view file);
// `nvdisasm -gi`, or -g.
std::vector<DeviceInstruction> sass_listing(std::string_view sass, std::string_view file);

}  // namespace ridge
