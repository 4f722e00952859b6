// Files that stand where a file of the lab is missing: under another name, in another format, or as another program's
// placeholder.
#pragma once
#include <string>
#include <vector>

#include "grader/base/paths.hpp"
#include "grader/lab/lab.hpp"

namespace ridge::cluster {

// Of `others`, which are no files of the lab, the name of one that `file` is probably meant by. Empty: there is none.
// `sources`: the folder of the lab's files, where every further .cu may be meant.
std::string misnamed(const std::string& file, const std::vector<fs::path>& others, const fs::path& sources,
                     const Lab& lab);

// What a text is instead of a source: "is a web page; ...". Empty where nothing tells.
std::string no_source(const std::string& text);

// A document by its name, which is no archive of sources even where its format is a zip.
bool is_document(const std::string& name);

}  // namespace ridge::cluster
