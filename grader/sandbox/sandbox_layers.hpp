// Finds the layers of the sandbox that this machine supports.
#pragma once
#include <string>
#include <vector>

#include "grader/base/paths.hpp"

namespace ridge {

struct SandboxLayer;

struct SandboxParts {
  bool helper = false;  // ridge-sandbox-exec, which takes on Landlock, limits and the filter
  bool namespaces = false;
  bool user_namespace = false;        // one of its own: needed by ordinary users
  bool no_nested_namespaces = false;  // bwrap knows --disable-userns
  bool sized_tmpfs = false;           // bwrap knows --size
  bool become_nobody = false;         // root: the program runs as another user
  bool system_calls = false;
  bool landlock = false;
  bool limits = false;
  bool group = false;
};

// "namespaces, landlock": those of a result that it needs and that were off. Empty: it was sandboxed.
std::string missing_layers(const std::vector<SandboxLayer>& layers);

// Found by trying, once.
const SandboxParts& sandbox_parts();

fs::path sandbox_helper();
fs::path find_bwrap();  // RIDGE_BWRAP, or on PATH; empty where there is none

}  // namespace ridge
