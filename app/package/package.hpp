// `ridge package`: this build, or a lab's grader, for other machines. Each function returns the exit code.
#pragma once
#include <string>
#include <vector>

namespace ridge {

struct GradescopeArguments {
  std::string lab, out, task, seed_file;
  double limit = 0;  // seconds that the grading of one submission may take; 0: below Gradescope's own
  bool require_sandbox = false;
};
// An autograder for Gradescope: a zip archive to upload.
int package_gradescope(const GradescopeArguments& arguments);

struct PrebuiltArguments {
  std::string format;              // "tarball" or "deb"
  std::string out;                 // file to write; empty: a name with the version, here
  std::vector<std::string> parts;  // programs beside ridge that only some need: cluster, live, mpi, viz
  bool solutions = false;
};
// This build as an archive or a Debian package that runs as it is.
int package_prebuilt(const PrebuiltArguments& arguments);

// For `cmake --install`: what such a package has besides the programs.
int package_tree(const std::string& folder);

}  // namespace ridge
