// Plays a story: a band shows the sentence of the step; space and the arrow keys move between steps.
#pragma once
#include <optional>

#include "kit/view.hpp"
#include "progress/story_file.hpp"

namespace ridge::viz {

class StoryPlayer {
 public:
  void start(Story story, std::size_t step = 0);
  bool on() const { return !story_.steps.empty(); }
  std::size_t step() const { return step_; }
  std::size_t steps() const { return story_.steps.size(); }
  // Handles the story's keys. False: none was pressed.
  bool keys();
  float height(const Theme& theme) const;
  void draw(Frame& frame);
  // The step's request to the program, once after each change of step.
  std::optional<Wish> take_wish();

 private:
  void go(std::size_t step);
  Story story_;
  std::size_t step_ = 0;
  bool entered_ = false;
};

}  // namespace ridge::viz
