// `ridge-viz --web`: draws for a page. It sleeps until the page sends input, a file changes, or a view moves; a frame
// goes out only where it differs from the last, and where the page has drawn what it has.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "kit/theme.hpp"

namespace ridge::viz::web {

struct Download {
  std::string name, content;
};

// The program that is drawn.
struct WebProgram {
  std::function<Look&()> look;
  std::function<void(const Theme&, float width, float height)> frame;  // between NewFrame and Render
  std::function<double()> wake_after;                                  // seconds until it needs a frame without input
  std::function<bool()> poll;                                          // every second; true: a frame is needed
  std::function<std::string()> status;                                 // what is drawn, in words
  std::function<std::string()> layout;                                 // where things were drawn, as JSON
  std::function<std::optional<Download>()> download;                   // a file for the page's user
};

// Returns when the page is gone: 0; 2 after a message that was refused.
int run_web(const WebProgram& program, int in, int out);
// Says in one message that there will be no session.
void refuse_web(const std::string& why, int out);

}  // namespace ridge::viz::web
