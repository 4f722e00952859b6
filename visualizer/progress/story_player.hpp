// Plays a story: a band with the sentence of its step; space and arrow keys go on and back.
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
  // Takes its keys; false: none of them was pressed.
  bool keys();
  float height(const Theme& theme) const;
  void draw(Frame& frame);
  // What the step wants, once after each change.
  std::optional<Wish> take_wish();

 private:
  void go(std::size_t step);
  Story story_;
  std::size_t step_ = 0;
  bool entered_ = false;
};

}  // namespace ridge::viz
