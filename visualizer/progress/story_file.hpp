// A story for a lecture: files, views and sentences, step by step. visualizer/README.md describes `ridge.story/1`.
#pragma once
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ridge::viz {

struct StoryError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct StoryStep {
  std::vector<std::filesystem::path> open;               // paths relative to the story's folder
  std::string view;                                      // where empty, the view stays
  std::vector<std::pair<std::string, std::string>> set;  // settings of that view
  std::string say;
};

struct Story {
  std::string title;
  std::vector<StoryStep> steps;  // at least one
};

// Throw StoryError.
Story parse_story(const std::string& text, const std::filesystem::path& file);
Story read_story(const std::filesystem::path& file);

}  // namespace ridge::viz
