#include "cluster/src/gradebook/filling.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <string_view>

#include "cluster/src/base/csv.hpp"
#include "cluster/src/base/files.hpp"
#include "cluster/src/base/strings.hpp"
#include "grader/base/error.hpp"

namespace ridge::cluster {

namespace {

// All that may name a student in a system's own file.
constexpr std::array kIdentities = {"SIS Login ID", "SIS User ID", "ID",           "ID number",
                                    "Username",     "Student ID",  "OrgDefinedId", "Email address",
                                    "Identifier",   "Display ID",  "Email"};

struct System {
  std::string name;    // as people write it
  std::string column;  // with the grades; empty: that of the lab
};

const std::map<std::string, System>& systems() {
  static const std::map<std::string, System> known = {{"blackboard", {"Blackboard", ""}},
                                                      {"brightspace", {"Brightspace", ""}},
                                                      {"canvas", {"Canvas", ""}},
                                                      {"moodle", {"Moodle", "Grade"}},
                                                      {"sakai", {"Sakai", "grade"}}};
  return known;
}

// "20.00", or "20,00" where the system writes so; "1,000.00", "1.000,00", "1 000,00" and "1,000" with a separator of
// thousands.
double written_number(const std::string& text) {
  std::string number;
  for (const char c : text.substr(0, text.find_first_not_of("0123456789.,' \xC2\xA0\xE2\x80\xAF\x99")))
    if (std::string_view("0123456789.,").find(c) != std::string_view::npos) number += c;
  const std::size_t comma = number.rfind(','), point = number.rfind('.');
  const auto once = [&](char c) { return std::ranges::count(number, c) == 1; };
  std::size_t decimal = std::string::npos;  // where its separator is
  if (comma != std::string::npos && point != std::string::npos)
    decimal = std::max(comma, point);
  else if (point != std::string::npos && once('.'))
    decimal = point;
  else if (comma != std::string::npos && once(',') && (number.size() - comma != 4 || number[0] == '0' || comma == 0))
    decimal = comma;
  std::string plain;
  for (std::size_t i = 0; i < number.size(); ++i)
    if (i == decimal || (number[i] != ',' && number[i] != '.')) plain += i == decimal ? '.' : number[i];
  return std::atof(plain.c_str());
}

// A column's title without what the system adds: "Lab 1 (23769)", "Lab 1 [Total Pts: 50 Score] |12",
// "Lab 1 Points Grade <Numeric MaxPoints:50>".
std::string plain_title(const std::string& title) {
  std::size_t end = title.size();
  for (const char* mark : {" [Total Pts:", " Points Grade <", " ("})
    if (const auto at = title.rfind(mark); at != std::string::npos) end = std::min(end, at);
  return title.substr(0, end);
}

// The points for 100 % that a title names; 0: none.
double points_in(const std::string& title) {
  for (const std::string mark : {"[Total Pts: up to ", "[Total Pts: ", "MaxPoints:"})
    if (const auto at = title.find(mark); at != std::string::npos)
      return written_number(title.substr(at + mark.size()));
  return 0;
}

int named_column(const CsvRow& titles, const std::string& name, const fs::path& file) {
  std::vector<int> parts, whole;
  for (std::size_t i = 0; i < titles.size(); ++i) {
    if (titles[i].text == name) return static_cast<int>(i);
    if (lower(titles[i].text).find(lower(name)) != std::string::npos) parts.push_back(static_cast<int>(i));
    if (lower(plain_title(titles[i].text)) == lower(name)) whole.push_back(static_cast<int>(i));
  }
  if (whole.size() == 1) return whole[0];
  if (parts.size() == 1) return parts[0];
  std::vector<std::string> all;
  for (const CsvField& f : titles) all.push_back(f.text);
  throw Error(Exit::usage,
              fmt::format("{} {} column '{}'", shown(file), parts.empty() ? "has no" : "has more than one", name),
              fmt::format("name one with --column; it has: {}", fmt::join(all, " | ")));
}

// Who is meant by a key of the file: an id or e-mail address, or how another roster named the student.
class Names {
 public:
  explicit Names(const std::vector<Grade>& grades) {
    for (const Grade& g : grades) {
      by_[0][lower(g.student.id)].push_back(&g);
      if (!g.student.email.empty()) by_[1][lower(g.student.email)].push_back(&g);
      for (const StudentKey& k : g.student.keys)
        for (std::size_t kind = 2; kind < kKinds.size(); ++kind)
          if (k.kind == kKinds[kind]) by_[kind][lower(k.value)].push_back(&g);
    }
  }
  // `own`: the column of the system's own numbers, as "4711" or "Participant 4711".
  const Grade* find(const Csv& csv, std::size_t row, const std::vector<int>& columns, int own) const {
    for (std::size_t kind = 0; kind < kKinds.size(); ++kind)
      for (const int c : columns) {
        std::string key = lower(csv.at(row, c));
        if (key.starts_with("#")) key.erase(0, 1);  // Brightspace
        const bool number = kKinds[kind] == "canvas" || kKinds[kind] == "participant";
        if (number && c == own) key.erase(0, key.find_last_not_of("0123456789") + 1);
        if (key.empty() || (number && c != own)) continue;
        const auto at = by_[kind].find(key);
        if (at != by_[kind].end() && at->second.size() == 1) return at->second[0];
      }
    return nullptr;
  }

 private:
  static constexpr std::array<std::string_view, 5> kKinds = {"id", "email", "login", "canvas", "participant"};
  std::array<std::map<std::string, std::vector<const Grade*>>, kKinds.size()> by_;
};

}  // namespace

bool is_filled(const std::string& format) { return systems().contains(format); }

std::string filled(const std::vector<Grade>& grades, const ExportOptions& o, std::string& note) {
  const System& system = systems().at(o.format);
  const bool canvas = o.format == "canvas";
  if (o.from.empty())
    throw Error(Exit::usage, fmt::format("grades for {0} are filled into a file that {0} exported", system.name),
                "name it with --from; it is read, and a copy with one column filled is written");
  auto text = read_regular(o.from, 64 << 20);
  if (!text) throw Error(Exit::usage, "cannot read " + shown(o.from), "check --from");
  const Csv csv = parse_csv(*text, shown(o.from));
  if (csv.rows.empty()) throw Error(Exit::usage, shown(o.from) + " is empty", "export it again");
  std::size_t top = 0;  // the row with the titles: Sakai writes two lines before it
  while (o.format == "sakai" && top + 1 < csv.rows.size() && csv.at(top, 0) != "Display ID") ++top;
  const CsvRow& titles = csv.rows[top];
  auto titled = [&](const char* name) {
    const auto at =
        std::ranges::find_if(titles, [&](const CsvField& f) { return lower(trimmed(f.text)) == lower(name); });
    return at == titles.end() ? -1 : static_cast<int>(at - titles.begin());
  };
  const std::string wanted = o.column.empty() ? (system.column.empty() ? o.lab : system.column) : o.column;
  const int column = named_column(titles, wanted, o.from);
  std::vector<int> identities;
  for (const char* name : kIdentities)
    if (const int c = titled(name); c >= 0 && c != column) identities.push_back(c);
  if (identities.empty())
    throw Error(Exit::usage, shown(o.from) + " has no column that identifies students",
                "export it with ids or e-mail addresses");
  const std::string& title = titles[static_cast<std::size_t>(column)].text;
  double points = o.points != 0 ? o.points : points_in(title);
  const bool moodle = o.format == "moodle";
  const int most = moodle ? titled("Maximum Grade") : -1, open = moodle ? titled("Grade can be changed") : -1;
  std::vector<CsvChange> changes;
  int skipped = 0;
  const Names names(grades);
  std::map<const Grade*, std::size_t> seen;
  for (std::size_t row = top + 1; row < csv.rows.size(); ++row) {
    std::string first = csv.at(row, 0);
    first.erase(0, first.find_first_not_of(' '));
    if (canvas && first == "Points Possible") {
      if (points == 0) points = written_number(csv.at(row, column));
      continue;
    }
    const Grade* g = names.find(csv, row, identities, titled(canvas ? "ID" : "Identifier"));
    const bool locked = lower(csv.at(row, open)) == "no";
    if (g == nullptr || !g->percent || locked || static_cast<std::size_t>(column) >= csv.rows[row].size()) {
      ++skipped;
      continue;
    }
    if (!seen.emplace(g, row).second)
      throw Error(Exit::usage,
                  fmt::format("{}: rows {} and {} are the same student, {}", shown(o.from), seen[g] + 1, row + 1,
                              g->student.id),
                  "correct the file, or the roster");
    const double own = points == 0 ? written_number(csv.at(row, most)) : points;
    changes.push_back({row, column, short_number(*g->percent / 100 * (own > 0 ? own : 100))});
  }
  note = fmt::format("{} rows filled in column '{}', {} left as they were", changes.size(), title, skipped);
  return with_changes(csv, changes);
}

}  // namespace ridge::cluster
