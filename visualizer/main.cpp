// ridge-viz shows results, traces and recordings. `ridge-viz FILE...` opens a window; `--screenshot F.png` and
// `--export F.svg` draw pictures without one. Exit codes: 0 success; 1 a script's expectation failed; 2 bad arguments
// or bad input; 3 no display, or a picture could not be written.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "app.hpp"
#include "browser.hpp"
#include "kit/state.hpp"
#include "pictures.hpp"
#include "script.hpp"

namespace {

using namespace ridge::viz;

constexpr int kNotAsExpected = 1, kUsage = 2, kEnvironment = 3;
constexpr int kSmallest = 320, kLargest = 8192;  // pixels

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Arguments {
  std::vector<std::string> files, settings;
  std::vector<std::string> live;
  std::string story;
  int step = 1;
  std::string screenshot, picture, layout, script, view, size, theme;
  bool present = false, web = false;
  float scale = 0;
};

// "1600x900"
PictureSize parse_size(const std::string& text) {
  PictureSize size;
  int used = 0;
  const int read = std::sscanf(text.c_str(), "%5dx%5d%n", &size.width, &size.height, &used);
  const auto fits = [](int v) { return v >= kSmallest && v <= kLargest; };
  if (read != 2 || used != static_cast<int>(text.size()) || !fits(size.width) || !fits(size.height))
    throw UsageError(fmt::format("--size '{}' is not WIDTHxHEIGHT with {} to {} pixels each\n  try: --size 1600x900",
                                 text, kSmallest, kLargest));
  return size;
}

void check_targets(const Arguments& a) {
  for (const auto& target : {a.screenshot, a.picture, a.layout}) {
    const auto folder = std::filesystem::path(target).parent_path();
    std::error_code ignored;
    if (!folder.empty() && !std::filesystem::is_directory(folder, ignored))
      throw UsageError(fmt::format("cannot write '{}': there is no folder '{}'\n  try: mkdir -p '{}'", target,
                                   folder.string(), folder.string()));
  }
  if (!a.picture.empty() && !a.picture.ends_with(".svg") && !a.picture.ends_with(".png"))
    throw UsageError(fmt::format("--export '{}' is neither .svg nor .png\n  try: --export view.svg", a.picture));
  if (!a.layout.empty() && a.screenshot.empty() && a.picture.empty() && a.script.empty())
    throw UsageError("--layout records a picture or a script, and there is neither\n  try: add --screenshot F.png");
  if (a.web && !(a.screenshot + a.picture + a.script + a.size).empty())
    throw UsageError(
        "--web draws for a page, which also says the size\n  try: leave out --screenshot, --export, --script and --size");
}

void prepare(App& app, const Arguments& a) {
  if (!a.theme.empty()) app.look.scheme = a.theme == "dark" ? Scheme::dark : Scheme::light;
  if (a.present) app.look.present = true;
  if (a.scale > 0) app.look.zoom = a.scale;
  if (!a.view.empty() && !app.choose(a.view)) {
    std::vector<std::string> ids;
    for (const auto& v : app.views()) ids.emplace_back(v->id());
    throw UsageError(fmt::format("there is no view '{}'\n  try: --view {}", a.view, fmt::join(ids, ", ")));
  }
  for (const auto& file : a.files) app.open(file);
  for (const auto& folder : a.live) {
    if (folder.starts_with("http://") || folder.starts_with("https://"))
      throw UsageError(
          fmt::format("--live '{}': only folders are followed here\n  try: ridge viz --live {}", folder, folder));
    app.choose("progress");
    app.set("live", "1");
    app.view().open(identify(folder));  // in this view alone, because the folder may still be empty
  }
  if (!a.story.empty()) app.tell(read_story(a.story), static_cast<std::size_t>(std::max(1, a.step) - 1));
  for (const auto& setting : a.settings) {
    const auto equals = setting.find('=');
    if (equals == std::string::npos || !app.set(setting.substr(0, equals), setting.substr(equals + 1)))
      throw UsageError(fmt::format("the {} view has no setting '{}'\n  try: visualizer/README.md lists them",
                                   app.view().id(), setting));
  }
}

State state_of(const App& app, PictureSize size) {
  State s;
  s.dark = app.look.scheme == Scheme::dark;
  s.present = app.look.present;
  s.zoom = app.look.zoom;
  s.width = size.width, s.height = size.height;
  for (const auto& file : app.recent) s.recent.push_back(file.string());
  return s;
}

// "ridge-timeline.svg" in the current folder, or "ridge-timeline-2.svg" and so on where it exists.
std::string free_name(const char* view) {
  std::error_code ignored;
  auto name = fmt::format("ridge-{}.svg", view);
  for (int i = 2; std::filesystem::exists(name, ignored) && i < 10000; ++i)
    name = fmt::format("ridge-{}-{}.svg", view, i);
  return name;
}

int show(App& app, PictureSize size, LayoutLog& log) {
  Window window(size.width, size.height, true);
  const auto file = state_file();
  const auto remember = [&] {
    window.size(size.width, size.height);
    save_state(file, state_of(app, size));
  };
  std::size_t known = 0;
  run_interactive(window, app.look, [&](const Theme& theme) {
    for (const auto& dropped : window.dropped()) app.open_or_say(dropped);
    app.frame(theme, log);
    if (std::exchange(app.wants_picture, false)) {
      try {
        LayoutLog own;
        const auto name = free_name(app.view().id());
        window.size(size.width, size.height);
        write_svg(app, theme, size, name, own);
        app.say("saved " + name);
      } catch (const std::exception& e) {
        app.say_error(e.what());
      }
    }
    // Saved at once, in case of a crash.
    if (app.opened.size() != known) remember();
    known = app.opened.size();
    return app.wake_after();
  });
  remember();
  return 0;
}

int run(const Arguments& a) {
  check_targets(a);
  if (a.web)
    return show_in_browser([&] {
      auto app = std::make_unique<App>(make_views());
      prepare(*app, a);
      return app;
    });
  App app(make_views());
  PictureSize size = parse_size(a.size.empty() ? "1600x900" : a.size);
  // Pictures depend on the command line alone, never on the saved state.
  if (a.screenshot.empty() && a.picture.empty() && a.script.empty()) {
    const State state = load_state(state_file());
    app.look = {state.dark ? Scheme::dark : Scheme::light, state.present, state.zoom};
    app.recent.assign(state.recent.begin(), state.recent.end());
    if (a.size.empty()) size = {state.width, state.height};
  }
  prepare(app, a);
  LayoutLog log;
  if (a.screenshot.empty() && a.picture.empty() && a.script.empty()) return show(app, size, log);
  if (!a.script.empty()) run_script(app, size, a.script, log);
  if (!a.screenshot.empty()) take_screenshot(app, size, a.screenshot, log);
  if (a.picture.ends_with(".svg")) export_svg(app, size, a.picture, log);
  if (a.picture.ends_with(".png")) export_png(app, size, a.picture, log);
  if (!a.layout.empty()) log.write(a.layout);
  return 0;
}

int fail(int code, const std::string& message) {
  fmt::print(stderr, "ridge-viz: {}\n", message);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments a;
  CLI::App cli("Shows results, timelines and recordings. Press ? in the window for the keys.", "ridge viz");
  cli.add_option("files", a.files, "results, traces, recordings, ncu's CSV, or folders, e.g. work/.ridge/results");
  cli.add_option("--view", a.view, "which view to begin with: roofline, timeline, warp, progress");
  cli.add_option("--set", a.settings, "KEY=VALUE, a setting of the view, e.g. task=transpose")
      ->take_all()
      ->allow_extra_args(false);
  cli.add_option("--live", a.live, "follow this folder of results: a leaderboard that updates by itself")
      ->allow_extra_args(false);
  cli.add_option("--story", a.story, "a story to tell, e.g. visualizer/stories/01_transpose/story.json; space goes on");
  cli.add_option("--step", a.step, "with --story: where to begin");
  cli.add_option("--screenshot", a.screenshot, "draw the window into this PNG file and exit");
  cli.add_option("--export", a.picture, "draw the view alone into this .svg or .png file and exit");
  cli.add_option("--size", a.size, "pixels of the window or the picture, e.g. 1280x720");
  cli.add_option("--theme", a.theme, "light or dark")->check(CLI::IsMember({"light", "dark"}));
  cli.add_flag("--present", a.present, "large type and strong contrast, for a projector");
  cli.add_option("--scale", a.scale, "size of everything, 0.5 to 3")->check(CLI::Range(0.5, 3.0));
  cli.add_option("--script", a.script, "play this JSON file of clicks and keys off-screen (visualizer/README.md)");
  cli.add_flag("--web", a.web,
               "draw for a page in a browser, over stdin and stdout; `ridge viz --web` serves the page");
  cli.add_option("--layout", a.layout, "write where things were drawn to this JSON file");
  try {
    cli.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return cli.exit(e) == 0 ? 0 : kUsage;
  }
  try {
    return run(a);
  } catch (const UsageError& e) {
    return fail(kUsage, e.what());
  } catch (const StoryError& e) {
    return fail(kUsage, e.what());
  } catch (const OpenError& e) {
    return fail(kUsage, e.what());
  } catch (const ScriptError& e) {
    return fail(kNotAsExpected, e.what());
  } catch (const std::exception& e) {
    return fail(kEnvironment, e.what());
  }
}
