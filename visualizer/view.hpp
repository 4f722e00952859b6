// A view: one way to look at what was opened (roofline, timeline, warp, progress). The program shows one at a time.
#pragma once
#include <imgui.h>

#include <string>
#include <vector>

#include "layout_log.hpp"
#include "painter.hpp"
#include "theme.hpp"

namespace ridge::viz {

// Where and with what a view draws in one frame.
struct Frame {
  Painter& paint;
  const Theme& theme;
  LayoutLog& log;    // names what was drawn where, for tests
  ImVec2 from, to;   // the view's area in pixels
  bool interactive;  // false: into a picture; no tooltips, no ImGui widgets
};

class View {
 public:
  virtual ~View() = default;
  virtual const char* id() const = 0;     // "timeline": for --view and file names
  virtual std::string title() const = 0;  // for people
  // Between NewFrame and Render, inside an ImGui window that covers from..to. Handles its own keys and mouse.
  virtual void draw(Frame& frame) = 0;
  // Wants another frame without input (loads, follows a folder).
  virtual bool busy() const { return false; }
  // What was dropped, clamped or guessed in what is shown: the program shows it always.
  virtual std::vector<std::string> notes() const { return {}; }
};

}  // namespace ridge::viz
