#include "cluster/src/intake/roster.hpp"

#include <fmt/format.h>
#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <cwchar>
#include <set>

#include "cluster/src/base/csv.hpp"
#include "cluster/src/base/files.hpp"
#include "cluster/src/base/strings.hpp"
#include "cluster/src/intake/lms_dates.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"

namespace ridge::cluster {

namespace {

std::vector<std::string> words_of(const std::string& name) {
  std::vector<std::string> words;
  for (const std::string& word : split(replaced(name, "\t", " "), ' '))
    if (!word.empty()) words.push_back(word);
  return words;
}

// "Participant 4711" and "4711" -> "4711"
std::string last_number(const std::string& text) {
  const std::size_t end = text.find_last_of("0123456789");
  if (end == std::string::npos) return "";
  const std::size_t before = text.find_last_not_of("0123456789", end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, end - begin + 1);
}

std::string name_in(const Csv& table, std::size_t row) {
  const int first = table.column({"First name", "first_name"}),
            last = table.column({"Surname", "Last name", "last_name"});
  if (first >= 0 && last >= 0) return trimmed(table.at(row, first) + " " + table.at(row, last));
  return table.at(row, table.column({"name", "Student", "Full name", "Surname", "last_name"}));
}

void add_key(Student& s, const char* kind, const std::string& value) {
  if (value.empty()) return;
  const StudentKey key{kind, value};
  if (std::find(s.keys.begin(), s.keys.end(), key) == s.keys.end()) s.keys.push_back(key);
}

}  // namespace

bool same_student(const Student& a, const Student& b) {
  auto knows = [](const Student& s, const std::string& word) {
    return lower(s.id) == lower(word) || (!s.email.empty() && lower(s.email) == lower(word)) ||
           std::any_of(s.keys.begin(), s.keys.end(),
                       [&](const StudentKey& k) { return k.kind == "login" && lower(k.value) == lower(word); });
  };
  return knows(a, b.id) || knows(b, a.id) || (!b.email.empty() && lower(a.email) == lower(b.email));
}

std::vector<Student> read_roster(const fs::path& csv) {
  auto text = read_regular(csv, 64 << 20);
  if (!text) throw Error(Exit::usage, "cannot read the roster " + shown(csv), "check --roster");
  Csv table = parse_csv(*text, shown(csv));
  // Sakai writes two lines before the one with names.
  for (std::size_t i = 1; i < std::min<std::size_t>(4, table.rows.size()); ++i)
    if (table.at(i, 0) == "Display ID") table.rows.erase(table.rows.begin(), table.rows.begin() + static_cast<long>(i));
  const bool brightspace = table.column({"OrgDefinedId", "End-of-Line Indicator"}) >= 0;  // "#4711"
  auto at = [&](std::size_t row, int column) {
    const std::string value = trimmed(table.at(row, column));
    return brightspace && value.starts_with("#") ? value.substr(1) : value;
  };
  // In the order in which they are preferred. A row takes the next one where its field is empty.
  std::vector<int> ids;
  auto prefer = [&](std::initializer_list<std::string_view> names) {
    if (const int column = table.column(names); column >= 0) ids.push_back(column);
  };
  for (const char* name : {"id", "student_id", "SIS Login ID", "SIS User ID", "ID number", "Username", "OrgDefinedId",
                           "SID", "Email address"})
    prefer({name});
  const int github = table.column({"github_username"}), sid = table.column({"SID"});
  if (github >= 0) prefer({"identifier", "roster_identifier"});
  if (sid >= 0) prefer({"email"});  // Gradescope asks for no SID
  if (ids.empty())
    throw Error(Exit::usage, shown(csv) + " has no column `id`", "give it a first line with names: id,name,email");
  // Who may not see SIS ids gets Canvas's own alone.
  const bool canvas = table.column({"SIS Login ID", "SIS User ID"}) >= 0 ||
                      (table.column({"Student"}) >= 0 && table.column({"ID"}) >= 0 && table.column({"Section"}) >= 0);
  const int email = table.column({"email", "Email address", "SIS Login ID"});
  std::vector<Student> all;
  std::set<std::string> seen;
  for (std::size_t i = 1; i < table.rows.size(); ++i) {
    Student s;
    for (const int column : ids)
      if (s.id.empty()) s.id = composed(at(i, column));
    s.name = name_in(table, i);
    s.email = trimmed(table.at(i, email));
    if (s.id.empty() || s.name.find("Points Possible") != std::string::npos) continue;
    // Canvas's own, for teachers who look at the course as a student does.
    if (canvas && s.name == "Student, Test" && trimmed(table.at(i, table.column({"SIS User ID"}))).empty()) continue;
    if (lower(s.id).ends_with("_previewuser")) continue;  // Blackboard's own, for teachers
    if (const std::string role = lower(at(i, table.column({"Role"}))); sid >= 0 && !role.empty() && role != "student")
      continue;
    if (printable(s.id) != s.id || s.id.find('/') != std::string::npos || s.id.size() > 200)
      throw Error(Exit::usage,
                  fmt::format("{}: row {}: '{}' is not a student's id", shown(csv), i + 1, capped(printable(s.id), 60)),
                  "an id has at most 200 printable characters and no slash");
    if (!seen.insert(s.id).second)
      throw Error(Exit::usage, fmt::format("{}: the id {} comes twice", shown(csv), s.id), "every student has one row");
    for (const char* name : {"SIS Login ID", "SIS User ID", "ID number", "Username", "student_id", "OrgDefinedId",
                             "Student ID", "SID", "Display ID"})
      add_key(s, "login", at(i, table.column({name})));
    if (canvas) add_key(s, "canvas", table.at(i, table.column({"ID"})));
    if (github >= 0) add_key(s, "github", trimmed(table.at(i, github)));
    const std::string participant = github < 0 ? last_number(table.at(i, table.column({"Identifier"}))) : "";
    add_key(s, "participant", participant);
    if (const auto date = moodle_date(table.at(i, table.column({"Last modified (submission)"}))); date)
      s.moodle_dates[participant] = *date;
    all.push_back(s);
  }
  if (all.empty()) throw Error(Exit::usage, shown(csv) + " names no student", "one row each, below a line with names");
  return all;
}

std::vector<Student> read_rosters(const std::vector<std::string>& files) {
  std::vector<Student> all;
  for (const std::string& file : files) {
    const std::size_t before = all.size();
    for (const Student& s : read_roster(file)) {
      std::vector<Student*> same;
      for (std::size_t i = 0; i < before; ++i)
        if (same_student(all[i], s)) same.push_back(&all[i]);
      if (same.size() > 1)
        throw Error(Exit::usage,
                    fmt::format("{}: {} is {} and {} of the files before", shown(file), s.id, same[0]->id, same[1]->id),
                    "correct the ids or e-mail addresses of these rows");
      if (same.empty()) {
        all.push_back(s);
        continue;
      }
      Student& known = *same[0];
      if (known.name.empty()) known.name = s.name;
      if (known.email.empty()) known.email = s.email;
      known.moodle_dates.insert(s.moodle_dates.begin(), s.moodle_dates.end());
      add_key(known, "login", s.id);
      for (const StudentKey& k : s.keys) add_key(known, k.kind.c_str(), k.value);
    }
  }
  return all;
}

std::string folded_name(const std::string& given) {
  const std::string name = composed(given);
  static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  const locale_t before = utf8 == nullptr ? nullptr : uselocale(utf8);
  std::string out;
  std::mbstate_t in{}, written{};
  for (std::size_t at = 0; at < name.size();) {
    wchar_t c = 0;
    const std::size_t n = std::mbrtowc(&c, name.data() + at, name.size() - at, &in);
    if (n == 0 || n > name.size() - at) {  // no UTF-8
      in = {};
      ++at;
      continue;
    }
    at += n;
    if (iswalnum(static_cast<wint_t>(c)) == 0) continue;
    char bytes[16] = "";
    const std::size_t size = std::wcrtomb(bytes, static_cast<wchar_t>(towlower(static_cast<wint_t>(c))), &written);
    if (size <= sizeof bytes) out.append(bytes, size);
  }
  if (utf8 != nullptr) uselocale(before);
  return out;
}

bool has_name(const Student& student, const std::string& folded) {
  if (folded.empty() || student.name.empty()) return false;
  std::vector<std::string> words = words_of(replaced(student.name, ",", " "));
  for (std::size_t i = 0; i < words.size(); ++i) {  // "Doe, Jane" and "Jane Doe" are turned into each other
    std::string name;
    for (const std::string& word : words) name += folded_name(word);
    if (name == folded) return true;
    std::rotate(words.begin(), words.begin() + 1, words.end());
  }
  return false;
}

bool has_word_of(const Student& student, const std::string& folded) {
  const std::vector<std::string> words = words_of(replaced(student.name, ",", " "));
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    const std::string part = folded_name(word);
    return part.size() >= 2 && folded.find(part) != std::string::npos;
  });
}

}  // namespace ridge::cluster
