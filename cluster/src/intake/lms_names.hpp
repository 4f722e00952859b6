// How Canvas and Moodle name the entries of their downloads. Feedback goes back under the same names.
#pragma once
#include <optional>
#include <string>

namespace ridge::cluster {

// "Jane Doe_4711_assignsubmission_file_", with or without the last underscore, or with a file's name behind it.
struct MoodleName {
  std::string name, number, file;  // number: the participant's; file: empty where the entry is a folder
  std::string kind;                // "file"; "onlinetext" for what was typed into Moodle's editor
};
std::optional<MoodleName> moodle_name(const std::string& entry);

// "doejane_4711_815_copy.cu", "doejane_LATE_4711_815_copy-1.cu": the name without all that is no letter, the user's and
// the attachment's number, the student's file name.
struct CanvasName {
  std::string name, user, attachment, file;
  bool late = false;
};
std::optional<CanvasName> canvas_name(const std::string& entry);

}  // namespace ridge::cluster
