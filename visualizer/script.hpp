// Plays a script of input against the program, off-screen, at a fixed size and time step: `--script F.json`. Steps find
// places by the names that views log. README.md lists the steps.
#pragma once
#include <filesystem>

#include "app.hpp"
#include "pictures.hpp"

namespace ridge::viz {

// A step could not be done, or what it expects is not so. The message names the step.
struct ScriptError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws OpenError where the file is no script.
void run_script(App& app, PictureSize size, const std::filesystem::path& script, LayoutLog& log);

}  // namespace ridge::viz
