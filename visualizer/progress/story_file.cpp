#include "story_file.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace ridge::viz {

using json = nlohmann::ordered_json;  // settings are made in their order

Story parse_story(const std::string& text, const std::filesystem::path& file) {
  const auto refuse = [&](const std::string& why) {
    return StoryError(fmt::format("cannot play the story '{}': {}\n  try: visualizer/README.md says what a story holds",
                                  file.string(), why));
  };
  const auto string = [&](const json& j, const char* key, const std::string& where) -> std::string {
    if (!j.contains(key)) return {};
    if (!j[key].is_string()) throw refuse(fmt::format("{}.{} is not a string", where, key));
    return j[key].get<std::string>().substr(0, 1000);
  };
  const json j = json::parse(text, nullptr, false);
  if (!j.is_object()) throw refuse("it is not a JSON object");
  if (string(j, "schema", "") != "ridge.story/1") throw refuse("its schema is not ridge.story/1");
  Story story;
  story.title = string(j, "title", "");
  if (!j.contains("steps") || !j["steps"].is_array() || j["steps"].empty() || j["steps"].size() > 500)
    throw refuse("'steps' is not a list of 1 to 500 steps");
  for (std::size_t i = 0; i < j["steps"].size(); ++i) {
    const json& s = j["steps"][i];
    const std::string where = fmt::format("steps[{}]", i);
    if (!s.is_object()) throw refuse(where + " is not an object");
    StoryStep step;
    step.view = string(s, "view", where);
    step.say = string(s, "say", where);
    if (s.contains("open")) {
      const json files = s["open"].is_array() ? s["open"] : json::array({s["open"]});
      for (const json& f : files) {
        if (!f.is_string()) throw refuse(where + ".open is not a file's name");
        step.open.push_back(file.parent_path() / f.get<std::string>());
      }
    }
    if (s.contains("set")) {
      if (!s["set"].is_object()) throw refuse(where + ".set is not an object");
      for (const auto& [key, value] : s["set"].items())
        step.set.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
    }
    story.steps.push_back(std::move(step));
  }
  return story;
}

Story read_story(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw StoryError(fmt::format("cannot open the story '{}'\n  try: ls visualizer/stories", file.string()));
  return parse_story({std::istreambuf_iterator<char>(in), {}}, file);
}

}  // namespace ridge::viz
