// The text of a record's file.
#pragma once
#include <fstream>
#include <iterator>
#include <string>

#include "grader/base/error.hpp"
#include "grader/base/paths.hpp"
#include "grader/result/record.hpp"

namespace ridge {

// Throws a usage error if there is no such file, or the file is too large for a record.
inline std::string record_text(const std::string& file) {
  std::error_code ec;
  if (!fs::is_regular_file(file, ec)) throw Error(Exit::usage, "there is no file " + file, "check the path");
  if (fs::file_size(file, ec) > kMaxRecordBytes) throw Error(Exit::usage, file + " is larger than 16 MiB", "");
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace ridge
