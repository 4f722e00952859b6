#include "block/shared_segment.hpp"

#include <link.h>

#include <algorithm>
#include <cstring>
#include <tuple>

namespace ridge::simt {

namespace {

constexpr unsigned char kSharedPoison = 0xFF;  // a NaN in every floating-point format

std::pair<std::uintptr_t, std::uintptr_t> program_tls() {
  std::pair<std::uintptr_t, std::uintptr_t> found{0, 0};  // begin, bytes
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        for (int i = 0; i < info->dlpi_phnum; ++i)
          if (info->dlpi_phdr[i].p_type == PT_TLS)
            *static_cast<std::pair<std::uintptr_t, std::uintptr_t>*>(out) = {
                reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data), info->dlpi_phdr[i].p_memsz};
        return 1;  // the program itself comes first
      },
      &found);
  return found;
}

void fill(std::uintptr_t begin, std::uintptr_t end) {
  if (begin < end) std::memset(reinterpret_cast<void*>(begin), kSharedPoison, end - begin);
}

}  // namespace

SharedSegment::SharedSegment(const Program& program, const void* own, std::size_t own_bytes) {
  std::tie(begin_, bytes_) = program_tls();
  const auto at_own = reinterpret_cast<std::uintptr_t>(own);
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> holes = {{at_own, at_own + own_bytes}};
  if (ridge_dynamic_shared != nullptr) {
    dynamic_ = reinterpret_cast<std::uintptr_t>(ridge_dynamic_shared());
    holes.emplace_back(dynamic_, dynamic_ + kDynamicSharedMax);
    std::sort(holes.begin(), holes.end());
  }
  std::uintptr_t at = begin_;
  for (const auto& [begin, end] : holes) {
    if (at < begin) static_.emplace_back(at, begin);
    at = end;
  }
  if (at < begin_ + bytes_) static_.emplace_back(at, begin_ + bytes_);

  in_array_.assign(bytes_ + 16, program.shared.empty() ? 1 : 0);
  for (const Object& o : program.shared)
    std::fill(in_array_.begin() + static_cast<std::ptrdiff_t>(std::min(o.begin, bytes_)),
              in_array_.begin() + static_cast<std::ptrdiff_t>(std::min(o.end, bytes_)), std::uint8_t{1});
}

void SharedSegment::poison(std::size_t dynamic_bytes) const {
  for (const auto& [from, to] : static_) fill(from, to);
  if (ridge_dynamic_shared != nullptr) fill(dynamic_, dynamic_ + dynamic_bytes);  // else no array can be there
}

}  // namespace ridge::simt
