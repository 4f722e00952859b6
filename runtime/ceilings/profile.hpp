// Device profiles: the ceilings of a GPU, as data files with their sources.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace ridge {

struct ProfileCeiling {
  std::string id, kind, name, unit, source;
  double value = 0;
};

struct Profile {
  std::string id;  // file name without .toml
  std::string name;
  std::vector<ProfileCeiling> ceilings;
  std::map<std::string, double> device;  // the emulated GPU's numbers: "pcie_pinned", ...
};

// runtime/ceilings/profiles/ID.toml; throws std::runtime_error where it is missing or wrong.
Profile load_profile(const std::string& file);
// The profile that emulated results are held against.
const Profile& default_profile();

}  // namespace ridge
