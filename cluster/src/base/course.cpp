#include "cluster/src/base/course.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cluster/src/base/course_kubernetes.hpp"
#include "cluster/src/base/strings.hpp"
#include "cluster/src/base/table.hpp"
#include "grader/base/error.hpp"
#include "grader/lab/lab.hpp"
#include "grader/result/signature.hpp"

namespace ridge::cluster {

namespace {

toml::table parse(const fs::path& file) {
  try {
    return parse_toml(file_text(file), file);
  } catch (const Error& e) {
    throw Error(Exit::usage, e.what(), "correct the file; `ridge cluster init` writes an example");
  }
}

void read_slurm(Table& t, SlurmOptions& s) {
  t.get("partition", s.partition), t.get("account", s.account), t.get("qos", s.qos), t.get("gres", s.gres);
  t.get("constraint", s.constraint), t.get("exclude", s.exclude), t.get("memory", s.memory), t.get("cpus", s.cpus);
  t.get("nodes", s.nodes);
  t.get("options", s.more);
  t.done();
}

void read_late(Table t, LatePolicy& p) {
  t.get("grace_minutes", p.grace_minutes), t.get("percent_per_day", p.percent_per_day), t.get("days", p.days);
  t.done();
}

fs::path course_file(const std::string& given) {
  if (!given.empty()) return fs::absolute(given);
  if (const std::string named = environment("RIDGE_COURSE"); !named.empty()) return fs::absolute(named);
  for (fs::path p = fs::current_path();; p = p.parent_path()) {
    if (fs::exists(p / "course.toml")) return p / "course.toml";
    if (p == p.root_path()) break;
  }
  throw Error(Exit::usage, "there is no course.toml here or in a folder above",
              "name it with --course or RIDGE_COURSE; `ridge cluster init` writes one to start from");
}

}  // namespace

CourseLab Course::lab(const std::string& lab_name) const {
  auto at = labs.find(lab_name);
  if (at == labs.end())
    throw Error(Exit::usage, fmt::format("{} does not name the lab {}", shown(file), lab_name),
                fmt::format("add a table [labs.{}]", lab_name));
  return at->second;
}

Course load_course(const std::string& given) {
  Course c;
  c.file = course_file(given).lexically_normal();
  std::error_code ec;
  if (!fs::is_regular_file(c.file, ec)) throw Error(Exit::usage, "there is no file " + shown(c.file), "check --course");
  toml::table parsed = parse(c.file);
  Table t(&parsed, c.file, "");
  c.name = "course";
  c.gradebook = c.file.parent_path() / "gradebook.sqlite";
  c.shared = c.file.parent_path() / "shared";
  t.get("name", c.name), t.get("gradebook", c.gradebook), t.get("shared", c.shared), t.get("dropbox", c.dropbox);
  t.get("program", c.program), t.get("site", c.site), t.get("lessons", c.lessons), t.get("executor", c.executor);
  if (c.executor != "slurm" && c.executor != "kubernetes")
    throw Error(Exit::usage, fmt::format("{}: there is no executor '{}'", shown(c.file), c.executor),
                "executor = \"slurm\" (the default) or \"kubernetes\"");
  if (!c.lessons.empty() && !c.lessons.starts_with("https://") && !c.lessons.starts_with("http://"))
    throw Error(Exit::usage, fmt::format("{}: 'lessons' is no address of a page", shown(c.file)),
                "begin it with https://, and end it where `labs/` follows");

  CourseLab usual;
  SlurmOptions slurm;
  if (!c.site.empty()) {
    fs::path profile = root_dir() / "cluster/sites" / (c.site + ".toml");
    if (c.site.find('/') != std::string::npos) profile = c.file.parent_path() / c.site;
    if (!fs::exists(profile))
      throw Error(Exit::usage, fmt::format("{}: there is no site profile {}", shown(c.file), shown(profile)),
                  "name one of cluster/sites/ without .toml, or a path with a slash");
    toml::table site = parse(profile);
    Table s(&site, profile, "");
    std::string title;
    s.get("title", title), s.get("setup", c.setup), s.get("mpi", c.mpi), s.get("scratch", c.scratch);
    s.get("container", c.container);
    Table site_slurm = s.inside("slurm");
    read_slurm(site_slurm, slurm);
    s.done();
  }
  t.get("mpi", c.mpi), t.get("container", c.container), t.get("setup", c.setup), t.get("scratch", c.scratch);
  Table own_slurm = t.inside("slurm");
  read_slurm(own_slurm, slurm);
  Table kubernetes = t.inside("kubernetes");
  read_kubernetes(kubernetes, c, usual.kubernetes);

  Table g = t.inside("grading");
  g.get("signed", c.is_signed), g.get("signing_key", c.signing_key), g.get("keys", c.keys), g.get("seeds", c.seeds);
  g.get("require_sandbox", c.require_sandbox), g.get("retries", c.retries), g.get("heartbeat_s", c.heartbeat_s);
  g.get("start_s", c.start_s), g.get("readmit_s", c.readmit_s), g.get("per_job", c.per_job),
      g.get("at_once", c.at_once);
  g.get("preflight", c.preflight), g.get("reference", c.reference);
  g.get("backend", usual.backend), g.get("limit_s", usual.limit_s);
  g.done();
  for (std::string& key : c.keys)
    if (!public_key_from_hex(key)) key = (c.file.parent_path() / key).lexically_normal().string();
  if (c.heartbeat_s < 5) c.heartbeat_s = 5;
  read_late(t.inside("late"), usual.late);
  Table limits = t.inside("limits");
  limits.get("submissions_per_day", c.submissions_per_day);
  limits.done();
  usual.slurm = slurm;
  Table build = t.inside("build");
  build.get("arch", c.build_arch), build.get("limit_s", c.build_limit_s);
  Table build_pods = build.inside("kubernetes");
  usual.kubernetes_build = usual.kubernetes;
  usual.kubernetes_build.resources.clear();
  read_pods(build_pods, usual.kubernetes_build);
  read_slurm(build, usual.build);
  usual.builds_apart = c.executor == "kubernetes" ? build_pods.is_there() : !usual.build.partition.empty();
  if (c.build_limit_s < 1) c.build_limit_s = 1;
  if (usual.build.account.empty()) usual.build.account = slurm.account;
  if (usual.build.qos.empty()) usual.build.qos = slurm.qos;

  Table labs = t.inside("labs");
  for (const std::string& key : labs.names()) {
    CourseLab l = usual;
    try {
      l.name = find_lab(key).name;
    } catch (const Error& e) {
      throw Error(Exit::usage, fmt::format("{}: [labs.{}]: {}", shown(c.file), key, e.what()), e.advice);
    }
    Table one = labs.inside(key.c_str());
    one.get("weight", l.weight), one.get("deadline", l.deadline), one.get("backend", l.backend);
    one.get("limit_s", l.limit_s);
    read_late(one.inside("late"), l.late);
    Table its_slurm = one.inside("slurm");
    read_slurm(its_slurm, l.slurm);
    Table its_pods = one.inside("kubernetes");
    read_pods(its_pods, l.kubernetes);
    one.done();
    if (l.slurm.nodes > 1) {
      const Lab lab = find_lab(l.name);
      const bool ranks = std::any_of(lab.ranks.begin(), lab.ranks.end(), [](int n) { return n > 1; });
      if (!ranks || l.backend != lab::Backend::cpu || c.mpi.empty())
        throw Error(Exit::usage,
                    fmt::format("{}: [labs.{}]: {}", shown(c.file), key,
                                !ranks          ? "`nodes` is above 1, and the lab has no ranks"
                                : c.mpi.empty() ? "`nodes` is above 1, and `mpi` names no launcher of ranks"
                                                : "`nodes` is above 1, and ranks on GPUs are judged on one node"),
                    c.mpi.empty() ? "set mpi = \"srun --mpi=pmix\" in the site's profile or in course.toml"
                                  : "leave `nodes` out");
    }
    if (l.builds_apart && l.backend == lab::Backend::cuda && c.build_arch.empty())
      throw Error(Exit::usage, fmt::format("{}: [build] names no `arch`", shown(c.file)),
                  "a machine without a GPU must be told for which to build: arch = \"90a\" for H100 and H200");
    if (l.limit_s < 1) l.limit_s = 1;
    if (c.executor == "kubernetes") require_pods(c, l, key);
    c.labs[l.name] = l;
  }
  t.done();
  return c;
}

}  // namespace ridge::cluster
