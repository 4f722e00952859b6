// One frame of the whole program: the plot on the left, the panel on the right.
#pragma once
#include <vector>

#include "side_panel.hpp"

namespace ridge::viz {

class App {
 public:
  explicit App(std::vector<Result> results);  // at least one
  // Between NewFrame and Render. `log` receives what this frame drew.
  void frame(const Theme& theme, LayoutLog& log);

 private:
  std::vector<Result> results_;
  Choice choice_;
};

}  // namespace ridge::viz
