// Reads and writes between files and device memory without a buffer of the host, shaped as cuFile (GPUDirect Storage)
// has them.
#pragma once
#include <cuda_runtime.h>

#if defined(RIDGE_REAL_FILES) && __has_include(<cufile.h>)
#include <cufile.h>
#endif

#include <map>

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

#if __has_include(<cufile.h>)  // link with -lcufile

namespace detail {
inline bool opened() {
  static const bool good = cuFileDriverOpen().err == CU_FILE_SUCCESS;
  return good;
}
// Of a descriptor; kept while the program runs.
inline CUfileHandle_t handle_of(int fd) {
  static auto* all = new std::map<int, CUfileHandle_t>;
  const auto found = all->find(fd);
  if (found != all->end()) return found->second;
  CUfileDescr_t d{};
  d.type = CU_FILE_HANDLE_TYPE_OPAQUE_FD;
  d.handle.fd = fd;
  CUfileHandle_t h{};
  return cuFileHandleRegister(&h, &d).err == CU_FILE_SUCCESS ? (*all)[fd] = h : nullptr;
}
}  // namespace detail

inline bool cufile_available() { return detail::opened(); }
inline int register_buffer(void* base, std::size_t bytes) {
  return detail::opened() && cuFileBufRegister(base, bytes, 0).err == CU_FILE_SUCCESS ? 0 : -EINVAL;
}
inline int deregister_buffer(void* base) { return cuFileBufDeregister(base).err == CU_FILE_SUCCESS ? 0 : -EINVAL; }
inline ssize_t read_to_device(int fd, void* base, std::size_t bytes, long long file_offset, long long buffer_offset) {
  const CUfileHandle_t h = detail::handle_of(fd);
  return h == nullptr ? -ENOTSUP : cuFileRead(h, base, bytes, file_offset, buffer_offset);
}
inline ssize_t write_from_device(int fd, const void* base, std::size_t bytes, long long file_offset,
                                 long long buffer_offset) {
  const CUfileHandle_t h = detail::handle_of(fd);
  return h == nullptr ? -ENOTSUP : cuFileWrite(h, base, bytes, file_offset, buffer_offset);
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

inline bool cufile_available() { return true; }
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
