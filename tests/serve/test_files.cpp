// The student's files: a save never overwrites what it has not seen, and nothing outside of the work folder is touched.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <fstream>

#include "grader/base/sha256.hpp"
#include "serve/lab_json.hpp"
#include "serve/lesson.hpp"
#include "serve/replace_file.hpp"
#include "serve/work_files.hpp"
#include "support/catch.hpp"

using namespace ridge;
using namespace ridge::serve;
using How = Saved::How;

namespace {

struct Work {
  TemporaryDir dir{"serve"};
  Lab lab;
  fs::path file;
  Work() {
    setenv("RIDGE_WORK", (dir.path() / "work").c_str(), 1);
    lab.name = "01_coalescing", lab.files = {"copy.cu", "gather.cu"};
    file = dir.path() / "work" / lab.name / "copy.cu";
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "one\n";
  }
  ~Work() { unsetenv("RIDGE_WORK"); }
  long entries() const { return std::distance(fs::directory_iterator(file.parent_path()), {}); }
  void write(const std::string& text) const { std::ofstream(file, std::ios::binary) << text; }
};

}  // namespace

TEST_CASE("a save replaces the text that it is based on, and keeps the file's mode") {
  const Work w;
  chmod(w.file.c_str(), 0640);
  const WorkFile before = read_work_file(w.lab, "copy.cu");
  CHECK(before.text == "one\n");
  const Saved s = save_work_file(w.lab, "copy.cu", "two\n", before.version);
  CHECK(s.how == How::saved);
  CHECK(s.now.version == sha256("two\n"));
  CHECK(file_text(w.file) == "two\n");
  struct stat mode {};
  REQUIRE(stat(w.file.c_str(), &mode) == 0);
  CHECK((mode.st_mode & 0777) == 0640);
}

TEST_CASE("a save that has not seen another editor's text overwrites nothing, and returns that text") {
  const Work w;
  const std::string base = read_work_file(w.lab, "copy.cu").version;
  w.write("theirs\n");
  const Saved s = save_work_file(w.lab, "copy.cu", "mine\n", base);
  CHECK(s.how == How::conflict);
  CHECK(s.now.text == "theirs\n");
  CHECK(file_text(w.file) == "theirs\n");
  CHECK(save_work_file(w.lab, "copy.cu", "mine\n", s.now.version).how == How::saved);
  CHECK(save_work_file(w.lab, "copy.cu", "mine\n", base).how == How::saved);  // the same text again is no conflict
}

TEST_CASE("a file that vanished is written again") {
  const Work w;
  const std::string base = read_work_file(w.lab, "copy.cu").version;
  fs::remove(w.file);
  CHECK_FALSE(read_work_file(w.lab, "copy.cu").problem.empty());
  CHECK(save_work_file(w.lab, "copy.cu", "mine\n", base).how == How::saved);
}

TEST_CASE("only the lab's own files can be named") {
  const Work w;
  for (const char* name : {"../01_coalescing/copy.cu", "/etc/passwd", "coalescing.hpp", "", ".", "COPY.cu"}) {
    CHECK_FALSE(read_work_file(w.lab, name).problem.empty());
    CHECK(save_work_file(w.lab, name, "x", "").how == How::refused);
  }
}

TEST_CASE("a link out of the work folder is neither read nor written") {
  const Work w;
  const fs::path secret = w.dir.path() / "secret";
  std::ofstream(secret) << "secret\n";
  fs::create_symlink(secret, w.file.parent_path() / "gather.cu");
  CHECK(read_work_file(w.lab, "gather.cu").text.empty());
  CHECK(save_work_file(w.lab, "gather.cu", "x", sha256("secret\n")).how == How::refused);
  fs::rename(w.file.parent_path(), w.dir.path() / "elsewhere");
  fs::create_symlink(w.dir.path() / "elsewhere", w.dir.path() / "work" / w.lab.name);
  CHECK_FALSE(read_work_file(w.lab, "copy.cu").problem.empty());
  CHECK(save_work_file(w.lab, "copy.cu", "x", sha256("one\n")).how == How::refused);
  CHECK(file_text(secret) == "secret\n");
  CHECK(file_text(w.dir.path() / "elsewhere" / "copy.cu") == "one\n");
}

TEST_CASE("a text that the page would change is not edited there") {
  const Work w;
  for (const std::string& text :
       {std::string("caf\xe9\n"), std::string("a\0b\n", 4), std::string(kMostText + 1, 'x')}) {
    w.write(text);
    const WorkFile f = read_work_file(w.lab, "copy.cu");
    CHECK(f.text.empty());
    CHECK_FALSE(f.problem.empty());
    CHECK(save_work_file(w.lab, "copy.cu", "mine\n", f.version).how == How::refused);
    CHECK(file_text(w.file) == text);
  }
  w.write("a\r\nb\tc\u00e9\n");
  CHECK(read_work_file(w.lab, "copy.cu").text == "a\r\nb\tc\u00e9\n");
  CHECK(save_work_file(w.lab, "copy.cu", std::string(kMostText + 1, 'x'), "").how == How::refused);
  CHECK(save_work_file(w.lab, "copy.cu", std::string("a\0b", 3), "").how == How::refused);
}

TEST_CASE("a text that could not be read again is not saved, and the answer names the place") {
  const Work w;
  const std::string base = read_work_file(w.lab, "copy.cu").version;
  for (const auto& [text, said] : {std::pair<std::string, const char*>{"one\n\xEF\xBB\xBFtwo\n", "line 2 holds U+FEFF"},
                                   {"one\ntwo\n\x1b[1m", "line 3 holds U+001B"},
                                   {"\xE2\x80\xAE", "line 1 holds U+202E"},
                                   {"a\xff", "line 1 holds bytes that are no UTF-8"}}) {
    const Saved s = save_work_file(w.lab, "copy.cu", text, base);
    CHECK(s.how == How::refused);
    CHECK(s.why.find(said) == 0);
    CHECK(file_text(w.file) == "one\n");
    w.write(text);
    const WorkFile f = read_work_file(w.lab, "copy.cu");
    CHECK(f.problem.find(said) != std::string::npos);
    w.write("one\n");
  }
}

TEST_CASE("a disk that takes nothing leaves the old text, and says so") {
  const Work w;
  const std::string base = read_work_file(w.lab, "copy.cu").version;
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit nothing{0, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &nothing);
  const Saved s = save_work_file(w.lab, "copy.cu", "two\n", base);
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK(s.how == How::failed);
  CHECK(s.why.find("free some space") != std::string::npos);
  CHECK(file_text(w.file) == "one\n");
  CHECK(w.entries() == 1);
}

TEST_CASE("what another editor writes in the last moment stays") {
  const Work w;
  const std::string base = read_work_file(w.lab, "copy.cu").version;
  const auto hooked = [&](const std::function<void()>& meanwhile) {
    before_replacing = meanwhile;
    const Saved s = save_work_file(w.lab, "copy.cu", "mine\n", base);
    before_replacing = nullptr;
    return s;
  };
  Saved s = hooked([&] { w.write("in place\n"); });
  CHECK(s.how == How::conflict);
  CHECK(s.now.text == "in place\n");
  CHECK(file_text(w.file) == "in place\n");
  w.write("one\n");
  s = hooked([&] {  // as vim does
    std::ofstream(w.dir.path() / "theirs") << "renamed\n";
    fs::rename(w.dir.path() / "theirs", w.file);
  });
  CHECK(s.how == How::conflict);
  CHECK(file_text(w.file) == "renamed\n");
  fs::remove(w.file);
  s = hooked([&] { w.write("made\n"); });
  CHECK(s.how == How::conflict);
  CHECK(file_text(w.file) == "made\n");
  CHECK(w.entries() == 1);
}

TEST_CASE("a save by a server that was killed blocks no other, and what it left goes") {
  const Work w;
  const std::string base = read_work_file(w.lab, "copy.cu").version,
                    old = w.file.string() + "." + std::to_string(getpid()) + ".tmp",
                    stale = (w.file.parent_path() / ".copy.cu.0123456789abcdef.ridge-new").string();
  for (const std::string& file : {old, stale}) {
    std::ofstream(file) << "half";
    const timespec hour[2] = {{std::time(nullptr) - 3600, 0}, {std::time(nullptr) - 3600, 0}};
    utimensat(AT_FDCWD, file.c_str(), hour, 0);
  }
  CHECK(save_work_file(w.lab, "copy.cu", "two\n", base).how == How::saved);
  CHECK(w.entries() == 1);
}

TEST_CASE("no other user can read a private file while it is saved") {
  const Work w;
  chmod(w.file.c_str(), 0600);
  const std::string base = read_work_file(w.lab, "copy.cu").version;
  unsigned widest = 0;
  before_replacing = [&] {
    for (const auto& entry : fs::directory_iterator(w.file.parent_path()))
      widest |= static_cast<unsigned>(entry.status().permissions());
  };
  CHECK(save_work_file(w.lab, "copy.cu", "two\n", base).how == How::saved);
  before_replacing = nullptr;
  CHECK((widest & 077) == 0);
}

TEST_CASE("a lesson's headings have the anchors that findings name, and its links lead to what the server has") {
  Lab lab, other;
  lab.name = "01_coalescing", other.name = "02_tiling";
  const std::string html = lesson_html(
      "# Lab\n\n## Task 1: `copy`\n\n[other](../02_tiling/README.md#task-2) [record](../../benchmarks/x.json) "
      "![a tile](figures/tile.svg) ![out](../../secret.svg) [web](https://example.org)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
      "<details><summary>more</summary>text</details>\n<script>alert(1)</script>\n",
      lab, {lab, other});
  CHECK(html.find("<h2><a id=\"task-1-copy\"></a>Task 1: <code>copy</code></h2>") != std::string::npos);
  CHECK(html.find("<a href=\"?lab=02_tiling#task-2\">other</a>") != std::string::npos);
  CHECK(html.find("<img src=\"figures/01_coalescing/tile.svg\" alt=\"a tile\"") != std::string::npos);
  CHECK(html.find("record") != std::string::npos);
  CHECK(html.find("benchmarks") == std::string::npos);
  CHECK(html.find("secret") == std::string::npos);
  CHECK(html.find("<table>") != std::string::npos);
  CHECK(html.find("<details>") != std::string::npos);
  CHECK(html.find("<script>") == std::string::npos);
  for (const char* url :
       {"javascript:alert(1)", "figures/../x.svg", "file:///etc/passwd", "/etc/passwd", "figures/a/b.svg", "//x.org"})
    CHECK(lesson_target(url, lab, {lab}).empty());
}

TEST_CASE("a compiler's messages lie on lines of the student's files") {
  const auto found = compiler_messages(
      "copy.cu:12:3: error: use of undeclared identifier 'x'\ncopy.cu:14: fatal error: no such file\n"
      "coalescing.hpp:3:1: error: other\ncopy.cu:x: error: none\ncopy.cu:20:1: warning: unused\nnote: nothing\n",
      {"copy.cu"});
  REQUIRE(found.size() == 2);
  CHECK(found[0].line == 12);
  CHECK(found[0].text == "error: use of undeclared identifier 'x'");
  CHECK(found[1].line == 14);
}
