// Reads and writes between files and device memory without a buffer of the host, shaped as cuFile (GPUDirect Storage)
// has them.
#pragma once
#include <cuda_runtime.h>

#if defined(RIDGE_REAL_FILES) && __has_include(<cufile.h>)
#include <cufile.h>
#include <dlfcn.h>
#endif

#include <map>
#include <type_traits>

#include "files.hpp"

namespace files {

// False where this machine has no cuFile, and such a read can't run here.
bool cufile_available();
// cuFileBufRegister: device memory from `base` on. -EINVAL where it is registered already.
int register_buffer(void* base, std::size_t bytes);
int deregister_buffer(void* base);
// cuFileRead and cuFileWrite, at base + buffer_offset, which must be within the registered buffer. The file was opened
// with kDirect; its offset and `bytes` are multiples of storage().alignment. They have ended when they return, and wait
// for no stream: what is queued there for the same memory must have ended before. Return bytes, or a negative errno:
// -EFAULT for memory that is not registered.
ssize_t read_to_device(int fd, void* base, std::size_t bytes, long long file_offset, long long buffer_offset);
ssize_t write_from_device(int fd, const void* base, std::size_t bytes, long long file_offset, long long buffer_offset);

#if defined(RIDGE_REAL_FILES)  // a real file system (real.cpp)

#if __has_include(<cufile.h>)  // link with -ldl

namespace detail {

// NVIDIA's library, where this machine has it: a program that is built with its header runs elsewhere, too.
struct CuFile {
  decltype(&cuFileDriverOpen) driver_open = nullptr;
  decltype(&cuFileBufRegister) buffer_register = nullptr;
  decltype(&cuFileBufDeregister) buffer_deregister = nullptr;
  decltype(&cuFileHandleRegister) handle_register = nullptr;
  decltype(&cuFileHandleDeregister) handle_deregister = nullptr;
  decltype(&cuFileRead) read = nullptr;
  decltype(&cuFileWrite) write = nullptr;
  bool good = false;

  CuFile() {
    void* library = dlopen("libcufile.so.0", RTLD_NOW);
    if (library == nullptr) return;
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    good = find(driver_open, "cuFileDriverOpen") && find(buffer_register, "cuFileBufRegister") &&
           find(buffer_deregister, "cuFileBufDeregister") && find(handle_register, "cuFileHandleRegister") &&
           find(handle_deregister, "cuFileHandleDeregister") && find(read, "cuFileRead") &&
           find(write, "cuFileWrite") && driver_open().err == CU_FILE_SUCCESS;
  }
};
inline const CuFile& cufile() {
  static const CuFile library;
  return library;
}

// Registers a descriptor for one call: it may be another file's afterwards.
template <class Move>
ssize_t with_handle(int fd, Move move) {
  if (!cufile().good) return -ENOTSUP;
  CUfileDescr_t d{};
  d.type = CU_FILE_HANDLE_TYPE_OPAQUE_FD;
  d.handle.fd = fd;
  CUfileHandle_t h{};
  if (cufile().handle_register(&h, &d).err != CU_FILE_SUCCESS) return -ENOTSUP;
  const ssize_t n = move(h);
  const int error = errno;
  cufile().handle_deregister(h);
  return n == -1 ? -error : n < 0 ? -EIO : n;  // -1: errno; below: a code of cuFile's own
}

// All bytes, or as many as there are: a call of cuFile may move fewer.
template <class Function, class Pointer>
ssize_t move_all(Function move, int fd, Pointer base, std::size_t bytes, long long file_offset,
                 long long buffer_offset) {
  return with_handle(fd, [&](CUfileHandle_t h) {
    ssize_t done = 0, n = 1;
    while (n > 0 && static_cast<std::size_t>(done) < bytes) {
      n = move(h, base, bytes - static_cast<std::size_t>(done), file_offset + done, buffer_offset + done);
      if (n > 0) done += n;
    }
    return done > 0 ? done : n;
  });
}

}  // namespace detail

inline bool cufile_available() { return detail::cufile().good; }
inline int register_buffer(void* base, std::size_t bytes) {
  if (!cufile_available()) return -ENOTSUP;
  return detail::cufile().buffer_register(base, bytes, 0).err == CU_FILE_SUCCESS ? 0 : -EINVAL;
}
inline int deregister_buffer(void* base) {
  if (!cufile_available()) return -ENOTSUP;
  return detail::cufile().buffer_deregister(base).err == CU_FILE_SUCCESS ? 0 : -EINVAL;
}
inline ssize_t read_to_device(int fd, void* base, std::size_t bytes, long long file_offset, long long buffer_offset) {
  return detail::move_all(detail::cufile().read, fd, base, bytes, file_offset, buffer_offset);
}
inline ssize_t write_from_device(int fd, const void* base, std::size_t bytes, long long file_offset,
                                 long long buffer_offset) {
  return detail::move_all(detail::cufile().write, fd, base, bytes, file_offset, buffer_offset);
}

#else

inline bool cufile_available() { return false; }
inline int register_buffer(void*, std::size_t) { return -ENOTSUP; }
inline int deregister_buffer(void*) { return -ENOTSUP; }
inline ssize_t read_to_device(int, void*, std::size_t, long long, long long) { return -ENOTSUP; }
inline ssize_t write_from_device(int, const void*, std::size_t, long long, long long) { return -ENOTSUP; }

#endif

#else  // the emulator's, and a judge's

namespace detail {
struct Registered {
  char* base;
  std::size_t bytes;
};
inline std::map<const void*, std::size_t>& registered() {
  static auto* all = new std::map<const void*, std::size_t>;
  return *all;
}
inline bool is_registered(const void* base, std::size_t bytes, long long offset) {
  const auto found = registered().find(base);
  return found != registered().end() && offset >= 0 && static_cast<std::size_t>(offset) <= found->second &&
         bytes <= found->second - static_cast<std::size_t>(offset);
}
}  // namespace detail

// In a lab on a real machine it is not there: a sandbox lets no process reach the storage's driver.
inline bool cufile_available() { return !ridge_files_in_place(); }
inline int register_buffer(void* base, std::size_t bytes) {
  return base != nullptr && bytes > 0 && detail::registered().emplace(base, bytes).second ? 0 : -EINVAL;
}
inline int deregister_buffer(void* base) { return detail::registered().erase(base) == 1 ? 0 : -EINVAL; }

// The bytes pass through memory that stands for the network card's.
inline ssize_t read_to_device(int fd, void* base, std::size_t bytes, long long file_offset, long long buffer_offset) {
  if (!detail::is_registered(base, bytes, buffer_offset)) return -EFAULT;
  std::vector<char> passing(bytes);
  detail::Request r = detail::of_bytes(detail::Op::read, fd, nullptr, bytes, file_offset);
  const detail::Reply reply = detail::call(r, nullptr, [&](const detail::Reply& got) {
    if (got.result > 0) std::memcpy(passing.data(), ridge_files_window(), static_cast<std::size_t>(got.result));
  });
  if (reply.result > 0)
    cudaMemcpy(static_cast<char*>(base) + buffer_offset, passing.data(), static_cast<std::size_t>(reply.result),
               cudaMemcpyHostToDevice);
  return reply.result;
}
inline ssize_t write_from_device(int fd, const void* base, std::size_t bytes, long long file_offset,
                                 long long buffer_offset) {
  if (!detail::is_registered(base, bytes, buffer_offset)) return -EFAULT;
  std::vector<char> passing(bytes);
  cudaMemcpy(passing.data(), static_cast<const char*>(base) + buffer_offset, bytes, cudaMemcpyDeviceToHost);
  return detail::call(detail::of_bytes(detail::Op::write, fd, nullptr, bytes, file_offset), passing.data(),
                      [](const detail::Reply&) {})
      .result;
}

#endif

}  // namespace files
