// A view is one way to look at the opened files: roofline, timeline, warp, progress. The program shows one at a time. A
// new view is a class and one line in views.cpp.
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

// All that a view needs to draw one frame.
struct Frame {
  Painter& paint;
  const Theme& theme;
  LayoutLog& log;    // records the names of what was drawn; tests and scripts find places by them
  ImVec2 from, to;   // the view's area in pixels
  bool interactive;  // false in a picture, which has no tooltips and no ImGui widgets
};

// A request of a view or a story to the program.
struct Wish {
  std::vector<std::filesystem::path> open;
  std::string view;  // the view to show; where empty, the view that takes the last file
  std::vector<std::pair<std::string, std::string>> set;
};

class View {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  virtual ~View() = default;
  virtual const char* id() const = 0;     // the name for --view and for files: "timeline"
  virtual std::string title() const = 0;  // one or two words for the rail
  // Draws one frame and handles the view's own keys and mouse. Called between NewFrame and Render, inside an ImGui
  // window that covers from..to.
  virtual void draw(Frame& frame) = 0;

  // Whether files of this kind are opened in this view; several views may take the same kind. Where `open` throws
  // OpenError, the view keeps what it showed. A second file is added to the first or replaces it, as the view decides.
  virtual bool takes(FileKind) const { return false; }
  virtual void open(const Source&) {}
  // Whether the view has nothing to show. Its place on the rail is then pale, and `draw` explains how to fill it.
  virtual bool empty() const { return false; }
  // Applies `--set KEY=VALUE` of the command line. False: the view has no such setting.
  virtual bool set(const std::string&, const std::string&) { return false; }

  // Whether the view is loading and needs the next frame without input. A picture waits until it is done.
  virtual bool busy() const { return false; }
  // Seconds until the view needs a frame without input, such as 1 while it follows a folder.
  virtual double wake_after() const { return busy() ? 0 : kNever; }
  // The things that the view dropped, clamped or guessed. The program always shows these notes.
  virtual std::vector<std::string> notes() const { return {}; }
  // The view's request, if it has one. The program asks after each frame, and each request is returned once.
  virtual std::optional<Wish> take_wish() { return std::nullopt; }
  // The view's keys and their effects, which `?` lists.
  virtual std::vector<std::pair<std::string, std::string>> keys() const { return {}; }
};

// All views, in the order of the rail.
std::vector<std::unique_ptr<View>> make_views();

}  // namespace ridge::viz
