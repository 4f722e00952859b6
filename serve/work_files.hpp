// The student's files of a lab, as the page's editor reads and saves them. A save names the text that it is based on, so
// that two editors of one file cannot overwrite each other unseen.
#pragma once
#include <string>

#include "grader/lab/lab.hpp"
#include "serve/work_text.hpp"

namespace ridge::serve {

struct WorkFile {
  std::string text;
  std::string version;  // SHA-256 of the text
  std::string problem;  // why the page must not edit the file; the text is then empty
};

// One of `lab.files` in work/NN_name; any other name is a problem. Files that are reached through a link out of the
// work folder are neither read nor written.
WorkFile read_work_file(const Lab& lab, const std::string& name);

struct Saved {
  enum class How { saved, conflict, refused, failed } how = How::saved;
  WorkFile now;     // saved: the new file; conflict: the file as it is
  std::string why;  // refused, failed
};

// Replaces the file by `text` if its version still is `base`. A file that vanished is written again. The file keeps its
// old text where the disk is full.
Saved save_work_file(const Lab& lab, const std::string& name, const std::string& text, const std::string& base);

}  // namespace ridge::serve
