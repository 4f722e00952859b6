// Task `elastic`: the judge's view of the disk: generations and the saved model.
#pragma once
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "runtime/files/model/file_system.hpp"

namespace ridge::lab::resilience {

class ElasticDisk : public files::FileSystem {
 protected:
  using FileSystem::FileSystem;
  struct Sealed {
    std::uint64_t hash = 0;
    std::int64_t step = 0;
    std::uint64_t other = 0;  // members, or the model's state
  };

  static std::string path_of(std::int64_t generation) {
    char name[40];
    std::snprintf(name, sizeof name, "ckpt/generation-%06lld", static_cast<long long>(generation));
    return name;
  }
  static Sealed sealed(Sealed s) {
    std::uint64_t hash = 14695981039346656037ull;
    const auto* p = reinterpret_cast<const unsigned char*>(&s);
    for (std::size_t i = 8; i < sizeof s; ++i) hash = (hash ^ p[i]) * 1099511628211ull;
    s.hash = hash;
    return s;
  }
  // None where the file is not there, or not whole.
  std::optional<Sealed> sealed_in(const std::string& path) const {
    const files::Bytes* b = find(path);
    Sealed s;
    if (b == nullptr || b->size() < sizeof s) return {};
    std::memcpy(&s, b->data(), sizeof s);
    if (sealed(s).hash != s.hash) return {};
    return s;
  }
  // The newest generation whose file is whole, and the newest file.
  std::int64_t newest() const {
    std::int64_t g = newest_file();
    while (g > 1 && !sealed_in(path_of(g))) --g;
    return g;
  }
  std::int64_t newest_file() const {
    std::int64_t g = 1;
    for (const std::string& name : disk().list("ckpt")) {
      long long n = 0;
      if (std::sscanf(name.c_str(), "generation-%lld", &n) == 1) g = std::max<std::int64_t>(g, n);
    }
    return g;
  }
};

}  // namespace ridge::lab::resilience
