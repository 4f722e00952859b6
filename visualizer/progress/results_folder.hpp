// Follows folders of results by polling, which works over NFS too. Results are renamed into place, so an unreadable
// file is either still being copied or not a result: it is tried again for a while.
// The path names the student: FOLDER/<student>/.../NN_name/<attempt>.json. A folder with results in FOLDER/NN_name
// belongs to one student. A file name.txt in a student's folder holds the name to show.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace ridge::viz {

struct AttemptTask {
  std::string id, title, status;
  double points = 0, max = 0;
};

struct Attempt {
  std::filesystem::path file;
  std::string student, lab, title, attempt, time, mode, outcome;
  double points = 0, max = 0;
  double coverage = 1;  // the part of the lab's points that was judged: less with --task
  std::vector<AttemptTask> tasks;
  std::uint64_t seen = 0;  // the number of the poll that found it, since clocks of machines differ
  double part() const { return max > 0 ? points / max : 0; }
};

// A student's attempts at one lab, ordered by file name, which is the time. An attempt may have judged one task alone:
// points are those of the tasks' best results, out of the whole lab.
struct LabProgress {
  std::string lab, title;
  std::vector<const Attempt*> attempts;
  std::vector<double> standing;  // after each attempt: the part of the lab's points by the last result of each task
  std::vector<AttemptTask> tasks;
  const Attempt* best = nullptr;  // the first after which the lab stood highest
  double points = 0, max = 0;
  double part() const { return max > 0 ? points / max : 0; }
};
struct StudentProgress {
  std::string student, name;
  std::vector<LabProgress> labs;
  double points = 0, max = 0;  // summed over the labs
  std::uint64_t last_seen = 0;
};

class ResultsFolder {
 public:
  void add(const std::filesystem::path& folder);
  // Polls the folders. True: a result is new, changed or gone.
  bool look();
  bool empty() const { return roots_.empty(); }
  std::uint64_t looks() const { return looks_; }
  const std::vector<std::filesystem::path>& roots() const { return roots_; }
  // The best student first; of equal points, the earliest.
  std::vector<StudentProgress> students() const;
  std::vector<std::string> notes() const;

  static constexpr std::size_t kMostFiles = 50000;
  static constexpr std::uintmax_t kMostBytes = 16 << 20;  // the largest file that is read
  static constexpr int kDeepest = 6, kTries = 20;

 private:
  struct Known {
    std::filesystem::file_time_type changed{};
    std::uintmax_t bytes = 0;
    int tries = 0;
    bool read = false, foreign = false;
    Attempt attempt;
  };
  void walk(const std::filesystem::path& folder, const std::filesystem::path& root, int depth, std::size_t& files);
  bool read(const std::filesystem::path& file, const std::filesystem::path& root, Known& known) const;

  std::vector<std::filesystem::path> roots_;
  std::map<std::filesystem::path, Known> known_;
  std::map<std::filesystem::path, std::filesystem::path> found_;  // files of this poll, with their root folder
  std::map<std::string, std::string> names_;
  std::uint64_t looks_ = 0;
  bool too_many_ = false, missing_ = false;
};

// Advice such as "Next: transpose, 35 points: ...": the task with the most missing points of the first lab
// without full marks.
std::string next_goal(const StudentProgress& s);

}  // namespace ridge::viz
