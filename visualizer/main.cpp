// ridge-viz: shows results as rooflines. `ridge-viz FILE...`, or off-screen `ridge-viz --screenshot F.png
// FILE`. Exit codes: 0 shown; 2 bad arguments or bad input; 3 no display, or the picture could not be
// written.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "app.hpp"
#include "screenshot.hpp"

namespace {

constexpr int kUsage = 2, kEnvironment = 3;
constexpr int kSmallest = 320, kLargest = 8192;  // pixels

struct Size {
  int width = 1600, height = 900;
};

// "1600x900"
bool parse_size(const std::string& text, Size& size) {
  int used = 0;
  const int read = std::sscanf(text.c_str(), "%5dx%5d%n", &size.width, &size.height, &used);
  const auto fits = [](int v) { return v >= kSmallest && v <= kLargest; };
  return read == 2 && used == static_cast<int>(text.size()) && fits(size.width) && fits(size.height);
}

int fail(int code, const std::string& message) {
  fmt::print(stderr, "ridge-viz: {}\n", message);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace ridge::viz;
  std::vector<std::string> files;
  std::string screenshot, layout, size_text = "1600x900";
  CLI::App cli("Shows ridge.result/1 files as rooflines; of several the last one first, arrow keys change.");
  cli.add_option("files", files, "results, e.g. work/.ridge/results/01_coalescing/*.json")->required();
  cli.add_option("--screenshot", screenshot, "draw off-screen into this PNG file and exit");
  cli.add_option("--size", size_text, "pixels of the window or the picture, e.g. 1280x720");
  cli.add_option("--layout", layout, "with --screenshot: write where things were drawn to this JSON file");
  try {
    cli.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return cli.exit(e) == 0 ? 0 : kUsage;
  }
  Size size;
  if (!parse_size(size_text, size))
    return fail(kUsage, fmt::format("--size '{}' is not WIDTHxHEIGHT with {} to {} pixels each\n  try: --size 1600x900",
                                    size_text, kSmallest, kLargest));
  for (const auto& target : {screenshot, layout}) {
    const auto folder = std::filesystem::path(target).parent_path();
    std::error_code ignored;
    if (!folder.empty() && !std::filesystem::is_directory(folder, ignored))
      return fail(kUsage, fmt::format("cannot write '{}': there is no folder '{}'\n  try: mkdir -p '{}'", target,
                                      folder.string(), folder.string()));
  }

  try {
    std::vector<Result> results;
    // Timelines lie beside results: a pattern like *.json means these.
    std::erase_if(files, [](const std::string& file) { return file.ends_with(".trace.json"); });
    if (files.empty()) return fail(kUsage, "these are timelines: open them in ui.perfetto.dev\n  try: name a result");
    for (const auto& file : files) results.push_back(read_result(file));
    App app(std::move(results));
    LayoutLog log;
    const auto draw = [&](const Theme& theme) { app.frame(theme, log); };
    if (screenshot.empty()) {
      Window window(size.width, size.height, true);
      run_interactive(window, draw);
      return 0;
    }
    Window window(64, 64, false);
    take_screenshot(window, size.width, size.height, screenshot, draw);
    if (!layout.empty()) log.write(layout);
  } catch (const ResultError& e) {
    return fail(kUsage, e.what());
  } catch (const std::exception& e) {
    return fail(kEnvironment, e.what());
  }
  return 0;
}
