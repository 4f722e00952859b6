// Runs a program and keeps what it printed: for tests that use Ridge as people do.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace ridge::test {

struct Run {
  int code = -1;  // exit code; 128 + signal where one ended it
  std::string out, err;
  double seconds = 0;
};

// `env` is added to this program's environment. Fails the test where the program hangs: after five times `limit` seconds, which
// are meant for a machine with nothing else to do.
Run run(const std::vector<std::string>& argv, const std::map<std::string, std::string>& env = {}, double limit = 120,
        const std::string& dir = "");

// The `ridge` program of this build, and the repository.
std::string ridge_program();
std::string repository();

// A folder that is removed at the end of its scope.
struct Folder {
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path;
  std::string operator/(const std::string& name) const { return path + "/" + name; }
};

std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& text);

}  // namespace ridge::test
