// The student's files: a save never overwrites what it has not seen, and nothing outside of the work folder is touched.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "grader/base/sha256.hpp"
#include "serve/lab_json.hpp"
#include "serve/lesson.hpp"
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

TEST_CASE("a disk that takes nothing leaves the old text, and says so") {
  const Work w;
  const std::string base = read_work_file(w.lab, "copy.cu").version;
  // A folder in the place of the temporary file, as good as a full disk.
  fs::create_directories(w.file.string() + "." + std::to_string(getpid()) + ".tmp");
  const Saved s = save_work_file(w.lab, "copy.cu", "two\n", base);
  CHECK(s.how == How::failed);
  CHECK_FALSE(s.why.empty());
  CHECK(file_text(w.file) == "one\n");
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
