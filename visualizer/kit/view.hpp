// A view: one way to look at what was opened (roofline, timeline, warp, progress). The program shows one at a time.
// A new view is a class and one line in views.cpp.
#pragma once
#include <imgui.h>

#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kit/layout_log.hpp"
#include "kit/painter.hpp"
#include "kit/source.hpp"
#include "kit/theme.hpp"

namespace ridge::viz {

// Where and with what a view draws in one frame.
struct Frame {
  Painter& paint;
  const Theme& theme;
  LayoutLog& log;    // names what was drawn where: tests and scripts click by these names
  ImVec2 from, to;   // the view's area in pixels
  bool interactive;  // false: into a picture; no tooltips, no ImGui widgets
};

// What a view, or a story, wants the program to do.
struct Wish {
  std::vector<std::filesystem::path> open;
  std::string view;  // to change to; empty: the view that takes the last file
  std::vector<std::pair<std::string, std::string>> set;
};

class View {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  virtual ~View() = default;
  virtual const char* id() const = 0;     // "timeline": for --view and file names
  virtual std::string title() const = 0;  // for people: a word or two on the rail
  // Between NewFrame and Render, inside an ImGui window that covers from..to. Handles its own keys and mouse.
  virtual void draw(Frame& frame) = 0;

  // A file of a kind that this view takes goes to it; several views may take the same one. `open` throws OpenError, and
  // then shows what it showed before. A second file is added or replaces the first, as it suits the view.
  virtual bool takes(FileKind) const { return false; }
  virtual void open(const Source&) {}
  // Has nothing to show: its place on the rail is pale, and `draw` says how to get something.
  virtual bool empty() const { return false; }
  // `--set KEY=VALUE` of the command line; false where there is no such key.
  virtual bool set(const std::string&, const std::string&) { return false; }

  // Wants another frame without input now (loads); a picture waits until it is not busy any more.
  virtual bool busy() const { return false; }
  // Seconds until it wants one (follows a folder: 1). Nothing is drawn before, without input.
  virtual double wake_after() const { return busy() ? 0 : kNever; }
  // What was dropped, clamped or guessed in what is shown: the program shows it always.
  virtual std::vector<std::string> notes() const { return {}; }
  // Asked after each frame; given once.
  virtual std::optional<Wish> take_wish() { return std::nullopt; }
  // Keys and what they do, for `?`.
  virtual std::vector<std::pair<std::string, std::string>> keys() const { return {}; }
};

// All views, in the order of the rail.
std::vector<std::unique_ptr<View>> make_views();

}  // namespace ridge::viz
