// Plays a script of input (`--script F.json`) off-screen, at a fixed size and time step. Steps refer to places by the
// names that views log; README.md lists the steps.
#pragma once
#include <filesystem>

#include "app.hpp"
#include "pictures.hpp"

namespace ridge::viz {

// A step failed, or its expectation is wrong. The message names the step.
struct ScriptError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws OpenError where the file is not a script, and ScriptError.
void run_script(App& app, PictureSize size, const std::filesystem::path& script, LayoutLog& log);

}  // namespace ridge::viz
