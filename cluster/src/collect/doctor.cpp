#include "cluster/src/collect/doctor.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <thread>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/base/course_keys.hpp"
#include "cluster/src/base/files.hpp"
#include "cluster/src/base/strings.hpp"
#include "cluster/src/gradebook/database.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/result/result.hpp"

namespace ridge::cluster {

namespace {

using Kind = Finding::Kind;

void examine_files(const Course& c, std::vector<Finding>& all) {
  struct stat s {};
  if (!c.is_signed) {
    all.push_back({Kind::doubtful, "results are not signed", "for official grades: signing_key and keys in [grading]"});
  } else {
    if (stat(c.signing_key.c_str(), &s) != 0 || (s.st_mode & 077) != 0)
      all.push_back({Kind::bad, "signing_key: " + shown(c.signing_key) + " is missing, or others can read it",
                     "`ridge key new FILE` makes one; chmod 600 FILE hides it from others"});
    else if (const auto wrong = wrong_keys(c))
      all.push_back({Kind::bad, wrong->what(), wrong->advice});
    else
      all.push_back({Kind::good, "signing key " + shown(c.signing_key) + ", and its public half in `keys`", ""});
  }
  if (!c.seeds.empty() && (stat(c.seeds.c_str(), &s) != 0 || (s.st_mode & 077) != 0))
    all.push_back({Kind::bad, "seeds: " + shown(c.seeds) + " is missing, or others can read it",
                   "head -c 32 /dev/urandom > FILE makes one; chmod 600 FILE hides it from others"});
  if (c.shared.string().find("/tmp") == 0)
    all.push_back(
        {Kind::doubtful, shown(c.shared) + " is below /tmp, which every node has for itself", "name a shared folder"});
  try {
    make_folders(c.shared);
    chmod(c.shared.c_str(), 0700);
    Database db(c.gradebook);
    all.push_back({Kind::good, "gradebook " + shown(c.gradebook) + " on a local disk", ""});
  } catch (const Error& e) {
    all.push_back({Kind::bad, e.what(), e.advice});
  }
}

// The folders that `ridge submit` writes to: students may write and not list, and the instructor reads.
void examine_dropbox(const Course& c, std::vector<Finding>& all) {
  if (c.dropbox.empty()) return;
  const std::string make = "install -d -m 3733 ";
  std::size_t good = 0;
  for (const auto& [name, lab] : c.labs) {
    const fs::path dir = c.dropbox / name;
    struct stat s {};
    if (stat(dir.c_str(), &s) != 0 || !S_ISDIR(s.st_mode))
      all.push_back({Kind::bad, fmt::format("dropbox: there is no folder {}", shown(dir)), make + shown(dir)});
    else if ((s.st_mode & 03) != 03)
      all.push_back({Kind::bad, fmt::format("dropbox: students can't write into {}", shown(dir)),
                     fmt::format("chmod 3733 {}", shown(dir))});
    else if ((s.st_mode & S_IROTH) != 0)
      all.push_back({Kind::bad, fmt::format("dropbox: everybody can list {}", shown(dir)),
                     fmt::format("chmod 3733 {}", shown(dir))});
    else if ((s.st_mode & S_ISVTX) == 0)
      all.push_back({Kind::bad, fmt::format("dropbox: students can remove what others put into {}", shown(dir)),
                     fmt::format("chmod 3733 {}", shown(dir))});
    else if (access(dir.c_str(), R_OK | X_OK) != 0)
      all.push_back({Kind::bad, fmt::format("dropbox: this account can't read {}", shown(dir)),
                     "its owner is to be the account that grades"});
    else
      ++good;
  }
  if (good == c.labs.size())
    all.push_back({Kind::good, fmt::format("dropbox {}: a folder for each lab", shown(c.dropbox)), ""});
}

// Runs one small job on a node, and compares what the node sees with this machine.
void examine_nodes(const Course& c, Executor& executor, std::vector<Finding>& all) {
  const fs::path dir = c.shared / "doctor" / new_nonce();
  make_folders(dir);
  const std::string word = new_nonce();
  publish(dir / "word", word);
  const CourseLab lab = c.labs.empty() ? CourseLab{} : c.labs.begin()->second;
  JobRequest request{.name = "ridge-doctor-" + word.substr(0, 8), .lab = lab, .minutes = 2};
  request.batch = dir, request.log = dir / "log", request.ridge = executor.paths().ridge.string();
  const Submitted s = executor.submit(request);
  if (s.kind != Submitted::Kind::accepted) {
    all.push_back({Kind::bad, executor.name() + " does not take a job: " + s.message,
                   fmt::format("correct [{}] in course.toml", lower(executor.name()))});
    return;
  }
  const double end = steady_now() + 60;
  std::optional<std::string> answer;
  while (!(answer = read_regular(dir / "answer", 1 << 20)) && steady_now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  if (!answer) {
    std::string why;
    if (const auto seen = executor.look("ridge-doctor", why))
      for (const auto& [name, task] : seen->queued)
        if (name == request.name) why = task.reason;
    executor.cancel({s.job});
    all.push_back({Kind::bad, "a small job did not answer within a minute" + (why.empty() ? "" : ": " + why),
                   "see " + shown(dir / "log") + " and the queue"});
    return;
  }
  std::istringstream in(*answer);
  std::string node, clock, heard, line;
  std::getline(in, node), std::getline(in, clock), std::getline(in, heard);
  if (heard != word)
    all.push_back({Kind::bad, shown(c.shared) + " is not the same folder on node " + node,
                   "`shared` must name one that all nodes mount"});
  else
    all.push_back({Kind::good, "node " + node + " sees the shared folder and this ridge", ""});
  if (const long apart = std::labs(static_cast<long>(std::atoll(clock.c_str()) - wall_now())); apart > 62)
    all.push_back({Kind::doubtful, fmt::format("the clock of {} is {} s off this machine's", node, apart),
                   "deadlines are judged by file dates: run NTP"});
  while (std::getline(in, line))
    all.push_back({c.require_sandbox ? Kind::bad : Kind::doubtful, "node " + node + ": " + line,
                   "`ridge doctor` on that node says what to do"});
  std::error_code ec;
  fs::remove_all(dir, ec);
}

}  // namespace

std::vector<Finding> examine(const Course& course, Executor& executor, bool jobs) {
  std::vector<Finding> all;
  examine_files(course, all);
  examine_dropbox(course, all);
  executor.examine(all);
  const bool bad = std::any_of(all.begin(), all.end(), [](const Finding& f) { return f.kind == Kind::bad; });
  if (jobs && !bad) examine_nodes(course, executor, all);
  return all;
}

}  // namespace ridge::cluster
