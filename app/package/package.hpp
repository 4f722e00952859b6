// `ridge package` packs this build, or a lab's grader, for other machines. Each function returns the exit code.
#pragma once
#include <string>
#include <vector>

namespace ridge {

struct GradescopeArguments {
  std::string lab, out, task, seed_file;
  double limit = 0;  // seconds that grading one submission may take
  bool require_sandbox = false;
};
// Makes an autograder for Gradescope, a zip archive to upload.
int package_gradescope(const GradescopeArguments& arguments);

struct PrebuiltArguments {
  std::string format;              // "tarball" or "deb"
  std::string out;                 // file to write; empty: a name with the version, in this folder
  std::vector<std::string> parts;  // further programs: cluster, live, mpi, viz
  bool solutions = false;
};
// Packs this build as an archive or a Debian package, which runs without being built.
int package_prebuilt(const PrebuiltArguments& arguments);

// Fills `folder` with what such a package has besides the programs, for `cmake --install`.
int package_tree(const std::string& folder);

}  // namespace ridge
