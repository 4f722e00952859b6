// The headers of a CUDA program: those of the user's are rewritten too, wherever they lie.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/paths.hpp"
#include "simt/rewrite/source/rewrite.hpp"

namespace ridge {

// Which calls are allowed.
struct CallRules {
  bool child_launches = true;  // kernels launch kernels
  bool device_by_default =
      false;  // functions without __host__ and __device__ are for kernels, as nvrtc's -default-device says
};

class CudaIncludes {
 public:
  // Rewritten copies go to `folder`; `dirs` are the user's -I folders. `only`, where given: the folders outside of
  // which no header is read here, since this is done outside of the compiler's sandbox.
  // `libraries`: folders of the system in which Thrust and libcu++ are looked for.
  CudaIncludes(fs::path folder, std::vector<fs::path> dirs, std::vector<fs::path> only = {},
               std::vector<fs::path> libraries = {})
      : folder_(std::move(folder)), dirs_(std::move(dirs)), only_(std::move(only)), libraries_(std::move(libraries)) {}

  // `source` rewritten, its includes leading to rewritten copies of the user's headers. Messages call it `shown_name`.
  // Calls that cross from one side to the other become errors, in the headers' copies too.
  std::string rewrite(const fs::path& source, const std::string& shown_name, CallRules rules = {});

  // The file that the compiler reads in place of the header named in the source.
  struct Copy {
    std::string shown_name;
    fs::path written, copy;
  };
  const std::vector<Copy>& copies() const { return made_; }
  // Warnings about the files that were rewritten, a line each.
  const std::string& notes() const { return notes_; }

 private:
  // Found in a -I folder, or included by such a file.
  bool of_library(const fs::path& file) const { return library_files_.count(file.lexically_normal().string()) != 0; }
  std::string rewrite_one(const fs::path& source, const std::string& shown_name, simt::FileSides& sides);
  std::optional<std::string> find(const fs::path& from, const std::string& shown_from, std::string_view file,
                                  bool in_quotes);

  bool may_read(const fs::path& header) const;
  bool in_libraries(std::string_view file) const;

  fs::path folder_;
  std::vector<fs::path> dirs_, only_, libraries_;
  std::map<std::string, std::string> copies_;  // header -> its copy
  std::set<std::string> library_files_;
  std::vector<Copy> made_;
  std::string notes_;
  std::map<std::string, simt::FileSides> header_sides_;  // copy -> what it says
};

}  // namespace ridge
