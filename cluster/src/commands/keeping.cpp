#include <fmt/format.h>

#include <string>

#include "cluster/src/base/files.hpp"
#include "cluster/src/commands/collecting.hpp"
#include "cluster/src/commands/registry.hpp"
#include "grader/base/error.hpp"

namespace ridge::cluster {

namespace {

struct KeepingArguments {
  std::string course, file, node;
};

int back_up(const KeepingArguments& a) {
  const Course course = load_course(a.course);
  Gradebook book(course);
  book.back_up(fs::absolute(a.file));
  fmt::print("Wrote {}, which only this account can read. `ridge cluster restore` takes it back.\n", shown(a.file));
  return 0;
}

int restore(const KeepingArguments& a) {
  const Course course = load_course(a.course);
  CollectorLock lock(course);
  restore_gradebook(course, fs::absolute(a.file));
  fmt::print("{} is back. `ridge cluster resume` goes on; `ridge cluster grade` takes in what came since the backup.\n",
             shown(course.gradebook));
  return 0;
}

int readmit(const KeepingArguments& a) {
  const Course course = load_course(a.course);
  Gradebook book(course);
  if (book.db().change("UPDATE node SET excluded = 0, failures = 0 WHERE name = ? AND excluded = 1", a.node) == 0)
    throw Error(Exit::usage, fmt::format("no node '{}' is left out", a.node), "`ridge cluster status` lists them");
  book.note(fmt::format("node {} is let in again by {}", a.node, user_name()));
  fmt::print("{} gets jobs again.\n", a.node);
  return 0;
}

// A course.toml to start from.
constexpr const char* kExample = R"(# docs/cluster.md says what every key means. Relative paths are this file's.
name = "HPC for AI"
gradebook = "gradebook.sqlite"   # a local disk of the machine that collects, not NFS
shared = "shared"                # a folder that every node sees under this name
# dropbox = "dropbox"            # where `ridge submit` puts work
# site = "virtual"               # a profile of cluster/sites/
# executor = "kubernetes"        # instead of Slurm: docs/kubernetes.md

[grading]
signing_key = "course.key"       # `ridge key new course.key`
keys = ["course.key.pub"]
seeds = "seeds"                  # head -c 32 /dev/urandom > seeds; chmod 600 seeds
retries = 3

[slurm]
# partition = "gpu"
# account = "course"
# gres = "gpu:1"

[late]
percent_per_day = 10
days = 3

[labs.01]
deadline = 2026-12-01T23:59:00+01:00
weight = 1
)";

int init(const KeepingArguments& a) {
  const fs::path file = fs::absolute(a.course.empty() ? "course.toml" : a.course);
  if (!publish(file, kExample)) throw Error(Exit::usage, shown(file) + " exists already", "it is never overwritten");
  fmt::print("Wrote {}. Edit it, then: ridge cluster doctor\n", shown(file));
  return 0;
}

}  // namespace

void add_keeping(Registry& cluster) {
  {
    const auto [command, a] = cluster.add_with_course<KeepingArguments>(
        "backup", "Copy the gradebook, also while it is used", " gradebook-monday.sqlite", back_up);
    command->add_option("file", a->file, "New file")->required();
  }
  {
    const auto [command, a] = cluster.add_with_course<KeepingArguments>(
        "restore", "Take a backup as the gradebook, where that is gone", " gradebook-monday.sqlite", restore);
    command->add_option("file", a->file, "What `backup` wrote")->required();
  }
  {
    const auto [command, a] = cluster.add_with_course<KeepingArguments>(
        "readmit", "Give jobs to a node that was left out", " gpu07", readmit);
    command->add_option("node", a->node, "As `status` names it")->required();
  }
  cluster.add_with_course<KeepingArguments>("init", "Write a course.toml to start from", "", init);
}

}  // namespace ridge::cluster
