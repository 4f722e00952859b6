#include "serve/page_files.hpp"

#include <utility>

namespace ridge::serve {

const char* media_type(const std::string& name) {
  for (const auto& [ending, type] : {std::pair{".html", "text/html; charset=utf-8"},
                                     {".css", "text/css; charset=utf-8"},
                                     {".js", "text/javascript; charset=utf-8"},
                                     {".svg", "image/svg+xml"},
                                     {".png", "image/png"}})
    if (name.ends_with(ending)) return type;
  return nullptr;
}

std::map<std::string, PageFile> load_page_files(const fs::path& folder) {
  std::map<std::string, PageFile> files;
  std::error_code ec;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ec)) {
    const std::string name = entry.path().lexically_relative(folder).generic_string();
    const char* type = media_type(name);
    if (type != nullptr && entry.is_regular_file(ec)) files[name] = {file_text(entry.path()), type};
  }
  return files;
}

}  // namespace ridge::serve
