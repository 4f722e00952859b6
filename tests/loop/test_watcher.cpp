// Saves of all kinds are noticed once, whole: in place, by rename, in steps, with the time of another file.
#include <filesystem>

#include "app/grading/watcher.hpp"
#include "grader/base/sha256.hpp"
#include "learn/attempts/files.hpp"
#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge::test;
using ridge::loop::Watcher;
namespace fs = std::filesystem;

namespace {

using Names = std::set<std::string>;

Names look(Watcher& w, int times = 3) {
  Names all;
  for (int i = 0; i < times; ++i) all.merge(w.changed());
  return all;
}

}  // namespace

TEST_CASE("a watcher notices saves, whole and once") {
  Folder dir;
  write_file(dir / "a.cu", "one");
  write_file(dir / "b.cu", "one");
  Watcher w(dir.path, {"a.cu", "b.cu"});
  CHECK(look(w).empty());

  write_file(dir / "a.cu", "two!");
  CHECK(w.changed().empty());  // it may still be written
  CHECK(w.changed() == Names{"a.cu"});
  CHECK(look(w).empty());

  write_file(dir / "b.cu~", "renamed");  // editors that write a new file and rename it
  fs::rename(dir / "b.cu~", dir / "b.cu");
  CHECK(look(w) == Names{"b.cu"});

  fs::remove(dir / "a.cu");  // in steps: away, empty, part, whole
  CHECK(look(w).empty());
  write_file(dir / "a.cu", "");
  CHECK(look(w).empty());
  write_file(dir / "a.cu", "three");
  CHECK(look(w) == Names{"a.cu"});

  write_file(dir / "a.cu", "three");  // saved without a change
  CHECK(look(w).empty());

  const auto time = fs::last_write_time(dir / "a.cu");
  write_file(dir / "a.cu", "eerht");  // as long and as old as before: only the content tells
  fs::last_write_time(dir / "a.cu", time);
  CHECK(look(w, 20) == Names{"a.cu"});

  write_file(dir / "notes.txt", "no source");
  CHECK(look(w).empty());
  write_file(dir / "shared.cuh", "new");
  CHECK(look(w) == Names{"shared.cuh"});
}

TEST_CASE("kept files are those that were judged, whole, and the oldest go first") {
  Folder home;
  setenv("RIDGE_WORK", (home / "work").c_str(), 1);
  using namespace ridge::loop;
  keep_files({{"a.cu", ridge::sha256("text")}, {"b.cu", ridge::sha256("judged")}},
             {{"a.cu", "text"}, {"b.cu", "saved since"}});
  CHECK(kept_file(ridge::sha256("text")) == "text");
  CHECK_FALSE(kept_file(ridge::sha256("saved since")));
  CHECK_FALSE(kept_file("../../etc/passwd"));
  const std::string file = home / ("work/.ridge/files/" + ridge::sha256("text"));
  write_file(file, "damaged");
  CHECK_FALSE(kept_file(ridge::sha256("text")));
  for (int i = 0; i < 5; ++i) {
    const std::string text = "file " + std::to_string(i);
    keep_files({{"a", ridge::sha256(text)}}, {{"a", text}});
    fs::last_write_time(home / ("work/.ridge/files/" + ridge::sha256(text)),
                        fs::file_time_type::clock::now() + std::chrono::seconds(i + 10));
  }
  prune_files(2);
  CHECK_FALSE(kept_file(ridge::sha256("file 2")));
  CHECK(kept_file(ridge::sha256("file 3")));
  CHECK(kept_file(ridge::sha256("file 4")));
  unsetenv("RIDGE_WORK");
}
