#include "story_file.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "formats/json_fields.hpp"
#include "kit/files.hpp"

namespace ridge::viz {

using Ordered = nlohmann::ordered_json;  // a step's settings apply in the order of the file
using Field = JsonField<Ordered>;

Story parse_story(const std::string& text, const std::filesystem::path& file) {
  const auto refuse = [&](const std::string& why) {
    return StoryError(fmt::format("cannot play the story '{}': {}\n  try: visualizer/README.md says what a story holds",
                                  file.string(), why));
  };
  const Ordered document = Ordered::parse(text, nullptr, false);
  if (!document.is_object()) throw refuse("it is not a JSON object");
  constexpr std::size_t kMostText = 1000, kMostSteps = 500;
  Story story;
  try {
    const Field root(document);
    if (root["schema"].text() != "ridge.story/1") throw refuse("its schema is not ridge.story/1");
    story.title = root["title"].text(kMostText);
    const auto steps = root["steps"].items();
    if (steps.empty() || steps.size() > kMostSteps) root["steps"].fail("an array of 1 to 500 steps");
    for (const Field& s : steps) {
      StoryStep step;
      step.view = s["view"].text(kMostText);
      step.say = s["say"].text(kMostText);
      if (const Field open = s["open"]; open && open.value()->is_string())
        step.open.push_back(file.parent_path() / open.text());
      else if (open && !open.value()->is_array())
        open.fail("a file's name or an array of them");
      else
        for (const Field& f : open.items()) step.open.push_back(file.parent_path() / f.text());
      if (const Field set = s["set"]) {
        if (!set.value()->is_object()) set.fail("an object");
        for (const auto& [key, value] : set.value()->items())
          step.set.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
      }
      story.steps.push_back(std::move(step));
    }
  } catch (const JsonFieldError& e) {
    throw refuse(e.what());
  }
  return story;
}

Story read_story(const std::filesystem::path& file) {
  std::string why;
  if (const auto text = read_file(file, &why)) return parse_story(*text, file);
  throw StoryError(fmt::format("cannot open the story '{}': {}\n  try: ls visualizer/stories", file.string(), why));
}

}  // namespace ridge::viz
