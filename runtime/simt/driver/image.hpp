// A module in the program's memory: an ELF image that `ridge cc` linked for such programs (grader/compile/module.cpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

namespace ridge::simt::driver {

struct ImageSymbol {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  bool function = false;
};

struct Image {
  std::uintptr_t base = 0;
  std::unordered_map<std::string, ImageSymbol> symbols;  // by their names in the object file
};

// The bytes of the image that `data` holds: an ELF file, or nvrtc's text of one. Empty where it is neither.
std::string image_bytes(const void* data);

// Maps the image, joins it with the program and runs its initialisers, which make its kernels known. Null where that is
// impossible: `why` says it then. Images stay: addresses of a module that is unloaded are never used again.
std::unique_ptr<Image> load_image(const std::string& bytes, std::string& why);

// The variables that the image defines, as PTX declares them, a comment a line: programs look for their names there.
std::string variables_as_text(const std::string& bytes);

// The name in the image of what the constant `pointer` points at; empty where there is no such constant.
std::string target_of(const std::string& bytes, const std::string& pointer);

}  // namespace ridge::simt::driver
