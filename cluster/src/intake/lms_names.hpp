// How learning management systems name the entries of their downloads. Feedback for Canvas and Moodle goes back under
// the same names.
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
// "doejane_4711_text.html", "doejane_LATE_4711_link.html": what is no upload. It has no attachment's number.
std::optional<CanvasName> canvas_page(const std::string& entry);

// "Lab 1_jdoe_attempt_2026-11-20-10-32-45_copy.cu", and the same with ".txt" for what the form held.
struct BlackboardName {
  std::string head, date, file;  // head: the assignment and the account; file: empty for the form
};
std::optional<BlackboardName> blackboard_name(const std::string& entry);

// "397063-2557369 - Jane Doe - Nov 20, 2026 926 PM", and the same with " - copy.cu" where the entry is a file.
struct BrightspaceName {
  std::string name, date, file;
};
std::optional<BrightspaceName> brightspace_name(const std::string& entry);

}  // namespace ridge::cluster
