#include "cluster/src/jobs/executor.hpp"

#include <string_view>

namespace ridge::cluster {

std::string own_program() {
  std::string name = fs::read_symlink("/proc/self/exe").string();
  constexpr std::string_view kReplaced = " (deleted)";
  if (name.ends_with(kReplaced)) name.resize(name.size() - kReplaced.size());
  return name;
}

}  // namespace ridge::cluster
