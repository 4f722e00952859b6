#include "cluster/src/intake/handing_in.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <thread>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/base/course.hpp"
#include "cluster/src/base/files.hpp"
#include "cluster/src/base/strings.hpp"
#include "cluster/src/slurm/slurm.hpp"
#include "grader/base/error.hpp"
#include "grader/base/sha256.hpp"
#include "grader/base/text.hpp"
#include "grader/lab/lab.hpp"
#include "grader/result/hashes.hpp"
#include "grader/result/result.hpp"
#include "grader/sandbox/process.hpp"
#include "learn/questions/participation.hpp"

namespace ridge::cluster {

namespace {

std::string user_name() {
  const passwd* p = getpwuid(getuid());
  return p != nullptr ? p->pw_name : std::to_string(getuid());
}

// This folder lists the student's own hand-ins for a lab, since nobody may list the course's folder.
fs::path own_list(const Lab& lab) { return work_dir() / ".ridge" / "handed-in" / lab.name; }

// The names of this student's archives for a lab, LAB_STUDENT_DATE_HASH.tar.gz, which sort by date.
std::vector<std::string> handed_in(const fs::path& dir, const Lab& lab, const std::string& prefix) {
  std::set<std::string> names;
  auto add = [&](const std::string& name) {
    struct stat s {};
    if (name.starts_with(prefix) && name.find('/') == std::string::npos && lstat((dir / name).c_str(), &s) == 0 &&
        s.st_uid == getuid())
      names.insert(name);
  };
  std::error_code ec;
  for (const auto& e : fs::directory_iterator(dir, ec)) add(e.path().filename().string());
  for (const std::string& name : split(read_regular(own_list(lab), 1 << 20).value_or(""), '\n')) add(name);
  return {names.begin(), names.end()};
}

void note_handed_in(const Lab& lab, const std::string& name) {
  try {
    make_folders(own_list(lab).parent_path());
    write_durably(own_list(lab), read_regular(own_list(lab), 1 << 20).value_or("") + name + "\n");
  } catch (const Error&) {  // it is handed in all the same
  }
}

// The mode with which the instructor, who is not root, can read what lies in this folder, and no other student can. A
// setgid bit gives files the folder's group, and a default ACL names who reads; without both the names, which nobody
// can list or guess, keep others away.
unsigned readable_mode(const fs::path& dir) {
  struct stat s {};
  if (stat(dir.c_str(), &s) != 0 || s.st_uid == geteuid()) return 0600;
  if ((s.st_mode & S_ISGID) != 0 || getxattr(dir.c_str(), "system.posix_acl_default", nullptr, 0) > 0) return 0640;
  return (s.st_mode & (S_IRGRP | S_IROTH)) == 0 ? 0644 : 0600;
}

}  // namespace

int submit_work(const SubmitArguments& a) {
  const Lab lab = find_lab(a.lab);
  const fs::path work = a.submission.empty() ? work_dir() / lab.name : fs::path(a.submission);
  const Hashes files = submission_hashes(work, lab);
  if (files.empty())
    throw Error(Exit::usage, fmt::format("{} holds none of the lab's files", shown(work)),
                fmt::format("`ridge start {}` makes them; then edit", lab.name.substr(0, 2)));
  std::string dropbox = a.dropbox.empty() ? environment("RIDGE_DROPBOX") : a.dropbox;
  int per_day = 0;
  if (dropbox.empty()) {
    const Course course = load_course("");
    dropbox = course.dropbox.string(), per_day = course.submissions_per_day;
  }
  std::error_code ec;
  if (dropbox.empty() || !fs::is_directory(dropbox, ec))
    throw Error(Exit::usage,
                fmt::format("there is no course folder to hand in to{}", dropbox.empty() ? "" : ": " + dropbox),
                "ask the instructor for it; RIDGE_DROPBOX or --to names it");

  std::vector<std::string> missing;
  for (const std::string& name : lab.files)
    if (files.count(name) == 0) missing.push_back(name);
  if (!missing.empty() && !a.unchecked)
    throw Error(Exit::usage, fmt::format("{} has no {}", shown(work), fmt::join(missing, ", ")),
                "`--unchecked` hands it in as it is; the lab's stub stands in for what is missing");
  if (!a.unchecked) {
    fmt::print("Checking {} first (`--unchecked` leaves this out) ...\n", shown(work));
    std::fflush(stdout);
    ProcessResult r =
        run_process({own_program(), "check", lab.name, "--backend", "cpu", "--submission", fs::absolute(work).string()},
                    fs::current_path(), {.seconds = 600, .output_bytes = 1 << 20});
    fmt::print("{}", r.output);
    if (r.exit_code == static_cast<int>(Exit::build))
      throw Error(Exit::build, "it does not build, so it was not handed in",
                  "correct it, or hand it in as it is: --unchecked");
    if (r.exit_code != 0) fmt::print("Not all checks pass; it is handed in as it is.\n");
  }
  // The journal's entries on answered questions go along if the folder is the student's own.
  std::string questions;
  if (a.submission.empty())
    if (const loop::Participation p = loop::participation_of(lab); p.any()) questions = loop::participation_text(p);
  const std::string sources = combined(files), hash = questions.empty() ? sources : sha256(sources + questions);
  const std::string prefix = fmt::format("{}_{}_", lab.name, user_name());
  const fs::path dir = fs::path(dropbox) / lab.name;
  if (!fs::is_directory(dir, ec))
    throw Error(Exit::usage, "the course folder takes no work for " + lab.name, "ask the instructor");
  const auto before = handed_in(dir, lab, prefix);
  if (!before.empty() && before.back().find(hash.substr(0, 12)) != std::string::npos) {
    fmt::print("These files were handed in already, as {}\n", before.back());
    return 0;
  }
  const std::string now = date_text(wall_now());
  if (per_day > 0) {
    const auto today = std::count_if(before.begin(), before.end(), [&](const std::string& n) {
      return n.compare(prefix.size(), 10, now.substr(0, 10)) == 0;
    });
    if (today >= per_day)
      throw Error(Exit::usage,
                  fmt::format("you handed in {} times today, and the course allows {} a day", today, per_day),
                  "hand in again after midnight UTC");
  }
  // tar packs exactly the hashed files, and the archive gets its name once it is complete.
  TemporaryDir scratch("submit");
  std::vector<std::string> argv = {"tar",
                                   "--create",
                                   "--gzip",
                                   "--owner=0",
                                   "--group=0",
                                   "--file",
                                   (scratch.path() / "work.tar.gz").string(),
                                   "-C",
                                   fs::absolute(work).string()};
  if (!questions.empty()) {
    write_durably(scratch.path() / loop::kParticipationFile, questions);
    argv.insert(argv.end() - 2, {"-C", scratch.path().string(), loop::kParticipationFile});
  }
  argv.push_back("--");
  for (const auto& [name, digest] : files) argv.push_back(name);
  ProcessResult r = run_process(argv, scratch.path(), {.seconds = 60});
  auto packed = read_regular(scratch.path() / "work.tar.gz", 64 << 20);
  if (r.exit_code != 0 || !packed)
    throw Error(Exit::environment, "tar can't pack the files: " + r.output, "is there space in /tmp?");
  std::string stamp = now;
  std::replace(stamp.begin(), stamp.end(), ':', '.');
  const fs::path target = dir / fmt::format("{}{}_{}.tar.gz", prefix, stamp, hash.substr(0, 12));
  if (!publish(target, *packed, readable_mode(dir)))
    throw Error(Exit::environment, shown(target) + " is there already", "try again in a second");
  note_handed_in(lab, target.filename().string());
  fmt::print("Handed in: {} files, sha256 {}\n  {}\n", files.size(), sources, shown(target));
  if (!questions.empty())
    fmt::print("With it goes how many predictions and quiz questions you answered (no points): {}\n",
               loop::kParticipationFile);
  return 0;
}

int grade_through_slurm(const std::string& lab_key, const std::vector<std::string>& arguments) {
  const Lab lab = find_lab(lab_key);
  Course course;
  try {
    course = load_course("");
  } catch (const Error& e) {
    if (e.code != Exit::usage || std::getenv("RIDGE_COURSE") != nullptr)
      throw;  // without a course.toml, the cluster's defaults apply
  }
  SlurmOptions options;
  int limit = 1500;
  if (auto at = course.labs.find(lab.name); at != course.labs.end())
    options = at->second.slurm, limit = at->second.limit_s;
  const std::string name = fmt::format("ridge-practice-{}", user_name());
  if (auto mine = queue(name); mine && !mine->empty())
    throw Error(Exit::usage, fmt::format("a practice job of yours is in the queue: {}", mine->begin()->second.job),
                fmt::format("wait for it, or end it: scancel {}", mine->begin()->second.job));
  const fs::path dir = work_dir() / ".ridge" / "slurm" / new_nonce().substr(0, 12);
  make_folders(dir);
  std::string line;
  for (const std::string& word : arguments) {
    std::string quoted = "'";
    for (char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += quoted + "' ";
  }
  const fs::path script = dir / "job.sh";
  publish(
      script,
      fmt::format("#!/bin/sh\nunset SLURM_EXPORT_ENV\nexport PATH=\"${{PATH:+$PATH:}}/usr/local/bin:/usr/bin:/bin\" "
                  "HOME=\"${{HOME:-{}}}\" RIDGE_NO_BUILD=1 RIDGE_RESULTS='{}' RIDGE_WORK='{}'\ncd '{}' || exit 3\n{}\n"
                  "timeout --kill-after=2 {} {}\ncode=$?\necho $code >'{}'.new && mv '{}'.new '{}'\n",
                  environment("HOME", "/"), results_dir().string(), work_dir().string(), fs::current_path().string(),
                  course.setup.empty() ? ":" : course.setup, limit, line, (dir / "code").string(),
                  (dir / "code").string(), (dir / "code").string()));
  Submitted s = submit(name, options, 1, 0, limit / 60 + 2, {}, dir / "output", {script.string()});
  if (s.kind != Submitted::Kind::accepted)
    throw Error(Exit::environment, "Slurm does not take the job: " + s.message,
                "see `sinfo`, and [slurm] in course.toml");
  tell("Job {} is in the queue. It is practice: only the instructor's grading is official. `scancel {}` ends it.\n",
       s.job, s.job);
  double next = 0, gone = 0;
  for (;;) {
    if (auto code = read_regular(dir / "code", 64)) {
      fmt::print("{}", read_regular(dir / "output", 16 << 20).value_or(""));
      std::error_code ec;
      fs::remove_all(dir, ec);
      const int value = std::atoi(code->c_str());
      if (value >= 0 && value <= 4) return value;
      throw Error(Exit::environment,
                  value == 124 ? fmt::format("it did not end within {} s", limit)
                               : fmt::format("ridge ended with exit code {}", value),
                  "see the lines above");
    }
    if (const double now = steady_now(); now >= next) {
      next = now + 5;
      if (auto mine = queue(name)) {
        if (mine->empty()) {
          if (gone == 0) gone = now;
          if (now - gone > 15)
            throw Error(Exit::environment, "the job ended without a result",
                        "its output is in " + shown(dir / "output"));
        } else if (mine->begin()->second.state == QueuedTask::State::waiting) {
          const int before = queue_position(options.partition, name);
          tell("waiting: {} jobs before it ({})\n", std::max(before, 0), mine->begin()->second.reason);
        }
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

}  // namespace ridge::cluster
