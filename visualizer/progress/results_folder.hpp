// Follows folders of results by looking again and again: works over NFS, needs no notification. Results are renamed
// into place, so a file that cannot be read is not whole yet (or no result): it is tried again for a while.
//
// Who made a result is told by its path: FOLDER/<student>/.../NN_name/<attempt>.json. A folder whose results lie in
// FOLDER/NN_name is one student's. A file name.txt in the student's folder has the name to show.
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
  std::vector<AttemptTask> tasks;
  std::uint64_t seen = 0;  // which look found it: no clock is compared
  double part() const { return max > 0 ? points / max : 0; }
};

// A student's attempts at one lab, in the order of their names, which are times.
struct LabProgress {
  std::string lab, title;
  std::vector<const Attempt*> attempts;
  const Attempt* best = nullptr;
};
struct StudentProgress {
  std::string student, name;
  std::vector<LabProgress> labs;
  double points = 0, max = 0;  // sums of the best
  std::uint64_t last_seen = 0;
};

class ResultsFolder {
 public:
  void add(const std::filesystem::path& folder);
  // Looks again; true where something is new, changed or gone.
  bool look();
  bool empty() const { return roots_.empty(); }
  std::uint64_t looks() const { return looks_; }
  const std::vector<std::filesystem::path>& roots() const { return roots_; }
  // Best first; with equal points who had them first.
  std::vector<StudentProgress> students() const;
  std::vector<std::string> notes() const;

  static constexpr std::size_t kMostFiles = 50000;
  static constexpr std::uintmax_t kMostBytes = 16 << 20;  // of one file
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
  std::map<std::filesystem::path, std::filesystem::path> found_;  // of this look, with their root
  std::map<std::string, std::string> names_;
  std::uint64_t looks_ = 0;
  bool too_many_ = false, missing_ = false;
};

// "Next: transpose, 35 points: ..." of a student: the task that misses most in the best attempt of the first lab that
// is not full.
std::string next_goal(const StudentProgress& s);

}  // namespace ridge::viz
