#include "app/nvcc/toolkit_folder.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace ridge::nvcc {

fs::path toolkit_folder() { return build_dir() / "toolkit"; }

bool toolkit_headers(const fs::path& dir) {
  std::error_code ec;
  return fs::equivalent(dir, toolkit_folder() / "include", ec) || fs::exists(dir / "crt/host_config.h", ec);
}

std::string toolkit_library(const fs::path& file) {
  std::error_code ec;
  const std::string name = file.filename().string();
  const fs::path folder = file.parent_path();
  if (!name.starts_with("lib") || folder.empty()) return {};
  if (!fs::equivalent(folder, toolkit_folder() / "lib64", ec) && !fs::exists(folder / "libcudart_static.a", ec))
    return {};
  return name.substr(3, name.find('.') - 3);
}

// CMake's CMakeDetermineCUDACompiler.cmake looks for these names, for "-arch compute_", and for a line that links with
// LIBRARIES: its first word links programs from then on, and this program takes the linker's arguments. Targets with
// C++ beside CUDA are linked by the C++ compiler: CMake takes that line's folder and libraries from "collect2".
std::string settings_text() {
  const std::string top = toolkit_folder().string();
  const char* path = std::getenv("PATH");
  const std::string libraries = fmt::format("\"-L{}/lib64\"", top);
  return fmt::format(
      "#$ _HERE_={0}/bin\n#$ TOP={0}\n#$ NVVMIR_LIBRARY_DIR={0}/nvvm/libdevice\n#$ PATH={0}/bin:{1}\n"
      "#$ INCLUDES=\"-I{0}/include\"\n#$ LIBRARIES=  {2}\n"
      "#$ cicc -arch compute_90 \"a.cu\"\n"
      "#$ \"{0}/bin/nvcc\" -o \"a.out\" \"a.o\" {2} -lcudadevrt -lcudart_static -lrt -lpthread -ldl\n"
      " collect2 -o a.out a.o -L{0}/lib64 -lcudadevrt -lcudart_static -lrt -lpthread -ldl\n",
      top, path == nullptr ? "" : path, libraries);
}

}  // namespace ridge::nvcc
