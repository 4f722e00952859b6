#include "cluster/src/base/course.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/base/strings.hpp"
#include "grader/base/error.hpp"
#include "grader/base/names.hpp"
#include "grader/base/toml_reader.hpp"
#include "grader/lab/lab.hpp"
#include "grader/result/signature.hpp"

namespace ridge::cluster {

namespace {

// A table that rejects unknown keys, such as a misspelled deadline.
class Table {
 public:
  Table(const toml::table* table, fs::path file, std::string name)
      : table_(table), file_(std::move(file)), name_(std::move(name)) {}

  template <class T>
  void get(const char* key, T& to) {
    known_.insert(key);
    if (const toml::node* n = find(key)) read(*n, key, to);
  }
  Table inside(const char* key) {
    known_.insert(key);
    const toml::node* n = find(key);
    if (n != nullptr && !n->is_table()) fail(*n, key, "a table");
    return {n != nullptr ? n->as_table() : nullptr, file_, name_.empty() ? key : name_ + "." + key};
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    if (table_ != nullptr)
      for (const auto& [key, value] : *table_) all.emplace_back(key.str());
    return all;
  }
  void done() const {
    if (table_ == nullptr) return;
    for (const auto& [key, value] : *table_)
      if (known_.count(std::string(key.str())) == 0)
        throw Error(Exit::usage,
                    fmt::format("{} line {}: there is no key '{}'{}", shown(file_), value.source().begin.line,
                                std::string(key.str()), name_.empty() ? "" : " in [" + name_ + "]"),
                    "docs/cluster.md lists the keys");
  }

 private:
  const toml::node* find(const char* key) const { return table_ == nullptr ? nullptr : table_->get(key); }
  [[noreturn]] void fail(const toml::node& n, const char* key, const char* wanted) const {
    throw Error(Exit::usage,
                fmt::format("{} line {}: '{}' is not {}", shown(file_), n.source().begin.line, key, wanted),
                "docs/cluster.md lists the keys");
  }
  void read(const toml::node& n, const char* key, std::string& to) const {
    if (!n.is_string()) fail(n, key, "a text");
    to = n.value<std::string>().value();
  }
  template <Named E>
  void read(const toml::node& n, const char* key, E& to) const {
    std::string word;
    read(n, key, word);
    const auto value = parse<E>(word);
    if (!value) fail(n, key, fmt::format("one of {}", fmt::join(Words<E>::all, ", ")).c_str());
    to = *value;
  }
  void read(const toml::node& n, const char* key, bool& to) const {
    if (!n.is_boolean()) fail(n, key, "true or false");
    to = n.value<bool>().value();
  }
  void read(const toml::node& n, const char* key, int& to) const {
    if (!n.is_integer() || n.value<std::int64_t>().value() < 0 || n.value<std::int64_t>().value() > 1000000)
      fail(n, key, "a whole number from 0 to 1000000");
    to = static_cast<int>(n.value<std::int64_t>().value());
  }
  void read(const toml::node& n, const char* key, double& to) const {
    if (!n.is_number() || n.value<double>().value() < 0) fail(n, key, "a number of at least 0");
    to = n.value<double>().value();
  }
  void read(const toml::node& n, const char* key, fs::path& to) const {
    std::string text;
    read(n, key, text);
    to = text.empty() ? fs::path() : (file_.parent_path() / text).lexically_normal();
  }
  void read(const toml::node& n, const char* key, std::vector<std::string>& to) const {
    const toml::array* list = n.as_array();
    if (n.is_string()) to = {n.value<std::string>().value()};
    if (list == nullptr && !n.is_string()) fail(n, key, "a list of texts");
    if (list == nullptr) return;
    to.clear();
    for (const auto& item : *list) {
      if (!item.is_string()) fail(item, key, "a list of texts");
      to.push_back(item.value<std::string>().value());
    }
  }
  void read(const toml::node& n, const char* key, std::optional<std::int64_t>& to) const {
    if (n.is_date_time()) {
      std::ostringstream text;
      text << n.as_date_time()->get();
      to = parse_date(text.str().substr(0, text.str().find('.')));
      if (!n.as_date_time()->get().offset)
        fail(n, key, "a date with its zone: write 2026-11-30T23:59:00+01:00, or Z at the end for UTC");
    } else {
      std::string text;
      read(n, key, text);
      to = parse_date(text);
    }
  }

  const toml::table* table_;
  fs::path file_;
  std::string name_;
  std::set<std::string> known_;
};

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
  t.get("program", c.program), t.get("site", c.site), t.get("lessons", c.lessons);
  if (!c.lessons.empty() && !c.lessons.starts_with("https://") && !c.lessons.starts_with("http://"))
    throw Error(Exit::usage, fmt::format("{}: 'lessons' is no address of a page", shown(c.file)),
                "begin it with https://, and end it where `labs/` follows");

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

  Table g = t.inside("grading");
  g.get("signed", c.is_signed), g.get("signing_key", c.signing_key), g.get("keys", c.keys), g.get("seeds", c.seeds);
  g.get("require_sandbox", c.require_sandbox), g.get("retries", c.retries), g.get("heartbeat_s", c.heartbeat_s);
  g.get("start_s", c.start_s), g.get("readmit_s", c.readmit_s), g.get("per_job", c.per_job),
      g.get("at_once", c.at_once);
  g.get("preflight", c.preflight), g.get("reference", c.reference);
  CourseLab usual;
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
  read_slurm(build, usual.build);
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
    if (!l.build.partition.empty() && l.backend == lab::Backend::cuda && c.build_arch.empty())
      throw Error(Exit::usage, fmt::format("{}: [build] names no `arch`", shown(c.file)),
                  "a machine without a GPU must be told for which to build: arch = \"90a\" for H100 and H200");
    if (l.limit_s < 1) l.limit_s = 1;
    c.labs[l.name] = l;
  }
  t.done();
  return c;
}

}  // namespace ridge::cluster
