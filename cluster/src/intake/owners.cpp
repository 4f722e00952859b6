#include "cluster/src/intake/owners.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cluster/src/base/strings.hpp"
#include "cluster/src/intake/entries.hpp"
#include "cluster/src/intake/lms_dates.hpp"
#include "cluster/src/intake/lms_names.hpp"
#include "cluster/src/intake/roster.hpp"
#include "grader/base/text.hpp"

namespace ridge::cluster {

namespace {

constexpr const char* kRename = "call it after the student's id";

bool has_key(const Student& s, const std::string& kind, const std::string& value) {
  return std::any_of(s.keys.begin(), s.keys.end(),
                     [&](const StudentKey& k) { return k.kind == kind && lower(k.value) == lower(value); });
}

// The name without the ending of an archive or a repository.
std::string stem_of(const std::string& name) {
  for (const char* end : {".tar.gz", ".tar.xz", ".tar.bz2", ".tar.zst", ".tgz", ".txz", ".tbz2", ".tar", ".zip", ".git",
                          ".rar", ".7z", ".gz"})
    if (name.size() > std::string_view(end).size() && lower(name).ends_with(end))
      return name.substr(0, name.size() - std::string_view(end).size());
  return name;
}

template <class Test>
std::vector<const Student*> those(const std::vector<Student>& roster, Test test) {
  std::vector<const Student*> found;
  for (const Student& s : roster)
    if (test(s)) found.push_back(&s);
  return found;
}

Owners one(std::vector<const Student*> found, const std::string& how, const std::string& nobody,
           const std::string& several) {
  Owners o;
  o.how = how;
  if (found.size() == 1)
    o.students = std::move(found);
  else
    o.why = found.empty() ? nobody : several;
  return o;
}

// Matches an entry exported by an LMS by that LMS's number, else by the name. The number of another LMS proves nothing.
Owners by_number_or_name(const std::vector<Student>& roster, const char* kind, const std::string& number,
                         const std::string& name, const std::string& system) {
  const std::string folded = folded_name(name);
  if (auto found = those(roster, [&](const Student& s) { return has_key(s, kind, number); }); !found.empty())
    return one(found, fmt::format("by {}'s number {}", system, number), "",
               fmt::format("several students have {}'s number {}", system, number));
  auto found = those(roster, [&](const Student& s) { return has_name(s, folded); });
  if (found.size() > 1)  // of students with one name, the id may tell
    std::erase_if(found, [&](const Student* s) { return s->id != number && !has_key(*s, "login", number); });
  if (found.empty())
    found = those(roster, [&](const Student& s) {  // a part of the name must fit, since others' numbers may be like ids
      return (s.id == number || has_key(s, "login", number)) && (s.name.empty() || has_word_of(s, folded));
    });
  return one(found, "by the name",
             fmt::format("neither {0}'s number {1} nor the name '{2}' tells of one student; name the roster that {0} "
                         "exports, too (--roster, twice), or {3}",
                         system, number, name, kRename),
             fmt::format("several students are called '{}'; {}", name, kRename));
}

bool moodle(const std::string& name, const std::vector<Student>& roster, Owners& o) {
  const auto parts = moodle_name(name);
  if (!parts) return false;
  o = by_number_or_name(roster, "participant", parts->number, parts->name, "Moodle");
  o.file = parts->file;
  if (!o.file.empty()) o.group = "moodle " + parts->number;
  if (o.students.size() == 1)
    if (const auto& dates = o.students[0]->moodle_dates; dates.contains(parts->number))
      o.handed_in = dates.at(parts->number);
  return true;
}

bool canvas(const std::string& name, const std::vector<Student>& roster, Owners& o) {
  const auto page = canvas_page(name);
  const auto parts = page ? page : canvas_name(name);
  if (!parts) {
    const bool hidden = name.starts_with("anon_") || name.starts_with("LATE_anon_");
    if (hidden) o.why = "Canvas hides the names (anonymous grading): show them there, and download again";
    return hidden;
  }
  o = by_number_or_name(roster, "canvas", parts->user, parts->name, "Canvas");
  o.late = parts->late, o.in_time = !parts->late;
  if (page)
    o.problem = parts->file == "text.html"
                    ? "was typed into Canvas's text field; hand in the files of the lab"
                    : "is a link that was handed in to Canvas; hand in the files of the lab, or a zip of them";
  else
    o.file = parts->file, o.group = "canvas " + parts->user;
  return true;
}

// The account stands behind the assignment's title, which may hold anything.
bool blackboard(const std::string& name, const std::vector<Student>& roster, Owners& o) {
  const auto parts = blackboard_name(name);
  if (!parts) return false;
  const std::string head = lower(parts->head);
  std::size_t longest = 0;
  std::vector<const Student*> found;
  for (const Student& s : roster) {
    std::vector<std::string> keys = {s.id, s.email.substr(0, s.email.find('@'))};
    for (const StudentKey& k : s.keys)
      if (k.kind == "login") keys.push_back(k.value);
    for (const std::string& key : keys) {
      if (key.empty() || key.size() < longest || !head.ends_with("_" + lower(key))) continue;
      if (key.size() > longest) found.clear();
      longest = key.size();
      if (found.empty() || found.back() != &s) found.push_back(&s);
    }
  }
  o = one(found, "by Blackboard's account",
          fmt::format("no student on the roster has the account behind its title; {}", kRename),
          fmt::format("several students have the account behind its title; {}", kRename));
  o.file = parts->file, o.handed_in = blackboard_date(parts->date);
  o.group = "blackboard " + parts->head + parts->date;
  if (o.file.empty()) o.problem = "was typed into Blackboard's text field; hand in the files of the lab";
  return true;
}

bool brightspace(const std::string& name, const std::vector<Student>& roster, Owners& o) {
  const auto parts = brightspace_name(name);
  if (!parts) return false;
  const std::string folded = folded_name(parts->name);
  o = one(those(roster, [&](const Student& s) { return has_name(s, folded); }), "by the name",
          fmt::format("nobody on the roster is called '{}'; {}", parts->name, kRename),
          fmt::format("several students are called '{}'; {}", parts->name, kRename));
  o.file = parts->file, o.handed_in = brightspace_date(parts->date);
  if (!o.file.empty()) o.group = "brightspace " + name.substr(0, name.size() - o.file.size());
  return true;
}

bool gradescope(const std::string& name, const std::vector<Student>& roster, const Submitters& all, Owners& o) {
  const auto here = all.find(name);
  if (here == all.end()) return false;
  o.how = kByMetadata, o.handed_in = here->second.when;
  for (const Student& who : here->second.who) {
    auto found = those(roster, [&](const Student& s) {
      return !who.id.empty() && (lower(s.id) == lower(who.id) || has_key(s, "login", who.id));
    });
    if (found.empty())
      found = those(roster, [&](const Student& s) {
        return !who.email.empty() && (lower(s.email) == lower(who.email) || lower(s.id) == lower(who.email));
      });
    if (found.size() != 1) {
      o.students.clear();
      o.why = fmt::format("its submitter '{}' (sid '{}', {}) is {} on the roster", printable(who.name),
                          printable(who.id), printable(who.email), found.empty() ? "not" : "more than once");
      return true;
    }
    if (std::find(o.students.begin(), o.students.end(), found[0]) == o.students.end()) o.students.push_back(found[0]);
  }
  if (o.students.empty()) o.why = "submission_metadata.yml names nobody for it";
  return true;
}

// "NN_name_ACCOUNT_2026-11-26T10.52.24Z_0123456789ab.tar.gz", as `ridge submit` writes it.
bool dropbox(const std::string& name, const Lab& lab, const std::vector<Student>& roster, Owners& o) {
  static const std::string date = "dddd-dd-ddTdd.dd.ddZ", end = ".tar.gz";
  constexpr std::size_t kHash = 12;
  const std::size_t behind = 1 + date.size() + 1 + kHash + end.size();
  if (!name.starts_with(lab.name + "_") || !name.ends_with(end) || name.size() <= lab.name.size() + 1 + behind)
    return false;
  const std::string stamp = name.substr(name.size() - behind + 1, date.size());
  for (std::size_t i = 0; i < date.size(); ++i)
    if (date[i] == 'd' ? stamp[i] < '0' || stamp[i] > '9' : stamp[i] != date[i]) return false;
  const std::string account = name.substr(lab.name.size() + 1, name.size() - behind - lab.name.size() - 1);
  o = one(those(roster, [&](const Student& s) { return s.id == account || has_key(s, "login", account); }), kByAccount,
          fmt::format("no student on the roster has the account '{}'", account),
          fmt::format("several students have the account '{}'", account));
  return true;
}

// "lab03-octocat": of several usernames that fit, the longest.
bool github(const std::string& stem, const std::vector<Student>& roster, Owners& o) {
  std::size_t longest = 0;
  std::set<const Student*> found;
  for (const Student& s : roster)
    for (const StudentKey& k : s.keys) {
      if (k.kind != "github" || k.value.size() < longest) continue;
      const std::string name = lower(stem), user = lower(k.value);
      if (name != user && !name.ends_with("-" + user)) continue;
      if (user.size() > longest) found.clear();
      longest = user.size();
      found.insert(&s);
    }
  if (found.empty()) return false;
  o = one({found.begin(), found.end()}, "by the GitHub account", "", "several students have this GitHub account");
  return true;
}

bool boundary(const std::string& text, std::size_t at) {
  return at >= text.size() || std::string_view("_-. ()+,").find(text[at]) != std::string_view::npos;
}

// Finds the students whose id, login or e-mail address is a part of the name. One inside a longer one does not count.
Owners by_part(const std::string& stem, const std::vector<Student>& roster) {
  struct Found {
    const Student* student;
    std::size_t begin, end;
  };
  std::vector<Found> all;
  const std::string name = lower(stem);
  auto look_for = [&](const Student& s, const std::string& key) {
    const std::string word = lower(key);
    if (word.empty()) return;
    for (std::size_t at = name.find(word); at != std::string::npos; at = name.find(word, at + 1))
      if ((at == 0 || boundary(name, at - 1)) && boundary(name, at + word.size()))
        all.push_back({&s, at, at + word.size()});
  };
  for (const Student& s : roster) {
    look_for(s, s.id), look_for(s, s.email);
    for (const StudentKey& k : s.keys)
      if (k.kind == "login") look_for(s, k.value);
  }
  std::set<const Student*> found;
  for (const Found& f : all)
    if (std::none_of(all.begin(), all.end(), [&](const Found& o) {
          return o.begin <= f.begin && o.end >= f.end && o.end - o.begin > f.end - f.begin;
        }))
      found.insert(f.student);
  return one({found.begin(), found.end()}, "by the id in its name",
             fmt::format("nobody on the roster has this name; {}", kRename),
             fmt::format("the name holds the ids of several students; {}", kRename));
}

std::string without_zeros(const std::string& text) {
  const bool number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return number ? text.substr(std::min(text.find_first_not_of('0'), text.size() - 1)) : "";
}

// Spreadsheets drop the zeros in front of an id, and people add some. The whole name must be the number, or the number
// must be long enough that it is no lab's or copy's.
Owners by_number(const std::string& stem, const std::vector<Student>& roster) {
  std::set<std::string> numbers = {without_zeros(trimmed(stem))};
  for (std::size_t at = 0, end = 0; at < stem.size(); at = end + 1) {
    for (end = at; !boundary(stem, end);) ++end;
    if (const std::string n = without_zeros(stem.substr(at, end - at)); n.size() >= 4) numbers.insert(n);
  }
  numbers.erase("");
  return one(those(roster,
                   [&](const Student& s) {
                     return numbers.count(without_zeros(s.id)) != 0 ||
                            std::any_of(s.keys.begin(), s.keys.end(), [&](const StudentKey& k) {
                              return k.kind == "login" && numbers.count(without_zeros(k.value)) != 0;
                            });
                   }),
             "by the id, with other zeros in front", fmt::format("nobody on the roster has this name; {}", kRename),
             fmt::format("several students have this number, with other zeros in front; {}", kRename));
}

}  // namespace

Owners owners_of(const std::string& given, const Lab& lab, const std::vector<Student>& roster,
                 const Submitters& submitters) {
  Owners o;
  const std::string entry = composed(given);
  if (gradescope(entry, roster, submitters, o) || dropbox(entry, lab, roster, o)) return o;
  const std::string stem = stem_of(entry);
  auto exact = those(roster, [&](const Student& s) {
    return s.id == stem || (!s.email.empty() && lower(s.email) == lower(stem)) || has_key(s, "login", stem);
  });
  if (exact.size() == 1) return one(exact, "by the id", "", "");
  for (const auto& system : {moodle, blackboard, brightspace, canvas})
    if (system(entry, roster, o)) return o;
  if (github(stem, roster, o)) return o;
  o = by_part(stem, roster);
  return o.students.empty() && o.why.starts_with("nobody") ? by_number(stem, roster) : o;
}

}  // namespace ridge::cluster
