// Reads device profiles (runtime/ceilings/profiles/*.toml).
#include <fmt/format.h>
#include <toml++/toml.h>

#include "ceilings/profile.hpp"
#include "grader/base/error.hpp"
#include "grader/base/paths.hpp"

namespace ridge {

Profile load_profile(const std::string& file) {
  Profile p;
  p.id = fs::path(file).stem().string();
  try {
    toml::table table = toml::parse_file(file);
    p.name = table["name"].value_or(p.id);
    if (const auto* device = table["device"].as_table())
      for (const auto& [key, value] : *device)
        if (auto number = value.value<double>()) p.device[std::string(key.str())] = *number;
    if (const auto* ceilings = table["ceiling"].as_array())
      for (const auto& item : *ceilings)
        if (const auto* c = item.as_table())
          p.ceilings.push_back({(*c)["id"].value_or(std::string()), (*c)["kind"].value_or(std::string()),
                                (*c)["name"].value_or(std::string()), (*c)["unit"].value_or(std::string()),
                                (*c)["source"].value_or(std::string()), (*c)["value"].value_or(0.0)});
  } catch (const toml::parse_error& e) {
    throw Error(Exit::environment, fmt::format("{}:{}: {}", shown(file), e.source().begin.line, e.description()),
                "correct the profile");
  }
  return p;
}

const Profile& default_profile() {
  static const Profile profile = load_profile((root_dir() / "runtime/ceilings/profiles/h200.toml").string());
  return profile;
}

}  // namespace ridge
