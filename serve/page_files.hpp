// The page's own files, build/share/serve, read once at the start: a request is looked up here and never becomes a path.
#pragma once
#include <map>
#include <string>

#include "grader/base/paths.hpp"

namespace ridge::serve {

struct PageFile {
  std::string text;
  const char* type = "";
};

// By name relative to `folder`, such as "editor.js" or "codemirror/lib/codemirror.js". Files of other kinds are left out.
std::map<std::string, PageFile> load_page_files(const fs::path& folder);

// The media type of a file's name; null where the page has no such files.
const char* media_type(const std::string& name);

}  // namespace ridge::serve
