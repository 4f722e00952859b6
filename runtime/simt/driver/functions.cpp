// What cuSPARSE and cuFFT ask of code that nvrtcGetLTOIR gave. `ridge cc` links it into programs that give them such
// code (grader/compile/module.cpp).
#include "device/functions.hpp"

#include <memory>
#include <mutex>
#include <unordered_map>

#include "driver/image.hpp"

namespace ridge::simt::driver {

namespace {

// The function or variable `name` of C++ outside of namespaces. Code is mapped when it is asked for the first time.
void* find_function(const void* code, std::size_t bytes, const std::string& name, std::string& why) {
  static std::mutex mutex;
  static auto* images = new std::unordered_map<std::string, std::unique_ptr<Image>>;
  std::lock_guard lock(mutex);
  std::unique_ptr<Image>& image = (*images)[std::string(static_cast<const char*>(code), bytes)];
  why.clear();
  if (image == nullptr) image = load_image(std::string(static_cast<const char*>(code), bytes), why);
  if (image == nullptr) return nullptr;
  if (const auto at = image->symbols.find(name); at != image->symbols.end())
    return reinterpret_cast<void*>(at->second.address);
  const std::string mangled = "_Z" + std::to_string(name.size()) + name;  // parameters follow
  const ImageSymbol* found = nullptr;
  for (const auto& [symbol, place] : image->symbols) {
    if (!symbol.starts_with(mangled) || symbol.find('.') != std::string::npos || !place.function) continue;
    if (found != nullptr) why = "there are several of that name";
    found = &place;
  }
  if (found == nullptr) why = "nothing there has that name";
  return why.empty() ? reinterpret_cast<void*>(found->address) : nullptr;
}

}  // namespace

}  // namespace ridge::simt::driver

extern "C" const bool ridge_find_functions =
    (ridge::simt::find_device_function = ridge::simt::driver::find_function) != nullptr;
