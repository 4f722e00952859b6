// The headers of a CUDA program: those of the user's are rewritten too, wherever they lie.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paths.hpp"

namespace ridge {

class CudaIncludes {
 public:
  // Rewritten copies go to `folder`; `dirs` are the user's -I folders.
  CudaIncludes(fs::path folder, std::vector<fs::path> dirs) : folder_(std::move(folder)), dirs_(std::move(dirs)) {}

  // `source` rewritten, its includes leading to rewritten copies of the user's headers. Messages call it `shown_name`.
  std::string rewrite(const fs::path& source, const std::string& shown_name);

 private:
  std::optional<std::string> find(const fs::path& from, const std::string& shown_from, std::string_view file,
                                  bool in_quotes);

  fs::path folder_;
  std::vector<fs::path> dirs_;
  std::map<std::string, std::string> copies_;  // header -> its copy
};

}  // namespace ridge
