// The instructions that a line of a student's file becomes on a GPU, PTX or SASS: for the line under the editor's cursor.
#pragma once
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "grader/build/device_code.hpp"

namespace ridge::serve {

class LineCode {
 public:
  // {"form", "compiler", "target", "instructions": [{"kernel", "text"}], "problem", "version"}, of the file as it is saved;
  // `version` is its SHA-256. Compiles it where it, or another file of its folder, has changed. Null while another
  // request compiles.
  nlohmann::json of(const Lab& lab, const std::string& file, int line);

 private:
  std::mutex mutex_;
  std::string key_;  // what the code below was made of
  DeviceCode code_;
};

}  // namespace ridge::serve
