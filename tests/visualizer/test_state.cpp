#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "kit/state.hpp"
#include "support/catch.hpp"

using namespace ridge::viz;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("ridge-viz-state-" + std::to_string(getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() {
    fs::permissions(path, fs::perms::owner_all);
    fs::remove_all(path);
  }
};

State after(const fs::path& file, const std::string& text) {
  std::ofstream(file) << text;
  return load_state(file);
}

}  // namespace

TEST_CASE("what is saved is loaded again, and no temporary stays") {
  const Folder folder;
  const auto file = folder.path / "a" / "b" / "visualizer.json";
  State s;
  s.dark = true, s.zoom = 1.5F, s.width = 1280, s.height = 720;
  s.recent = {"/x/one.json", "/x/two.json"};
  REQUIRE(save_state(file, s));
  const State back = load_state(file);
  CHECK(back.dark);
  CHECK_FALSE(back.present);
  CHECK(back.zoom == 1.5F);
  CHECK(back.width == 1280);
  CHECK(back.recent == s.recent);
  CHECK(std::distance(fs::directory_iterator(file.parent_path()), fs::directory_iterator()) == 1);
}

TEST_CASE("a broken or foreign state is as on the first day") {
  const Folder folder;
  const auto file = folder.path / "s.json";
  CHECK(load_state(file).width == 1600);
  for (const char* text : {"", "{", "[1]", "nul", R"({"zoom": "big", "recent": 7, "dark": 3, "width": null})"}) {
    const State s = after(file, text);
    CHECK(s.zoom == 1);
    CHECK(s.recent.empty());
    CHECK_FALSE(s.dark);
    CHECK(s.width == 1600);
  }
  const State s = after(file, R"({"zoom": 1e9, "width": -5, "recent": ["a", 5, "b"]})");
  CHECK(s.zoom == 3);
  CHECK(s.width == 320);
  CHECK(s.recent == std::vector<std::string>{"a", "b"});
}

TEST_CASE("where it cannot be written nothing happens") {
  const Folder folder;
  std::ofstream(folder.path / "file") << "x";
  CHECK_FALSE(save_state(folder.path / "file" / "s.json", {}));
  CHECK_FALSE(save_state({}, {}));
}

TEST_CASE("a relative XDG_STATE_HOME is ignored") {
  setenv("HOME", "/home/somebody", 1);
  setenv("XDG_STATE_HOME", "state", 1);
  CHECK(state_file() == "/home/somebody/.local/state/ridge/visualizer.json");
  setenv("XDG_STATE_HOME", "/var/state", 1);
  CHECK(state_file() == "/var/state/ridge/visualizer.json");
}
