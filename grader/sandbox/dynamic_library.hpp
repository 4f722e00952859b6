// A library that may be absent, opened at run time.
#pragma once
#include <dlfcn.h>

#include <type_traits>

namespace ridge {

class DynamicLibrary {
 public:
  explicit DynamicLibrary(const char* name) : handle_(dlopen(name, RTLD_NOW)) {}
  ~DynamicLibrary() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  DynamicLibrary(const DynamicLibrary&) = delete;
  DynamicLibrary& operator=(const DynamicLibrary&) = delete;
  explicit operator bool() const { return handle_ != nullptr; }

  // Sets the function pointer; false where the library does not have it.
  template <class F>
  bool get(F& function, const char* name) const {
    function = reinterpret_cast<F>(dlsym(handle_, name));
    return function != nullptr;
  }

 private:
  void* handle_;
};

}  // namespace ridge
