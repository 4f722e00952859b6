#include "learn/report/html_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "grader/base/error.hpp"
#include "grader/result/record.hpp"
#include "grader/result/timeline_trace.hpp"
#include "learn/attempts/attempts.hpp"
#include "learn/attempts/files.hpp"
#include "learn/questions/predictions.hpp"
#include "learn/report/lab_html.hpp"
#include "learn/report/page_style.hpp"
#include "learn/report/svg.hpp"

namespace ridge::loop {

namespace {

struct Person {
  std::string name;
  std::vector<LabRecord> records;  // the newest record of each lab, in the order of labs
  fs::path home;                   // the folder whose records these are
};

constexpr const char* kOwn = "My results";

std::optional<LabRecord> read_record(const fs::path& file) {
  std::error_code ec;
  if (!fs::is_regular_file(file, ec) || fs::file_size(file, ec) > kMaxRecordBytes || is_trace(file))
    return std::nullopt;
  try {
    const nlohmann::json j = parse_json(file_text(file));
    if (!j.is_object() || j.value("schema", nlohmann::json()) != "ridge.result/1") return std::nullopt;
    return LabRecord{read_result(j), file};
  } catch (const Error&) {
    return std::nullopt;
  }
}

// The folder of the person whose records these are: the one around a lab's folder, as in PERSON/NN_lab/ATTEMPT.json.
fs::path home_of(const fs::path& at, const std::vector<LabRecord>& records) {
  std::error_code ec;
  const fs::path folder = fs::is_directory(at, ec) ? at : at.parent_path();
  const bool of_lab = std::all_of(records.begin(), records.end(),
                                  [&](const LabRecord& r) { return folder.filename() == r.result.lab; });
  return of_lab ? folder.parent_path() : at;
}

Person own_results(const std::string& name);

Person read_person(const std::string& path) {
  Person p;
  fs::path at = fs::absolute(path).lexically_normal();
  if (!at.has_filename()) at = at.parent_path();
  const fs::path own = fs::absolute(results_dir()).lexically_normal();
  if (at == own) try {
      return own_results("");  // with code, notes and attempts
    } catch (const Error&) {   // records that nobody checked here
    }
  std::map<std::string, LabRecord> newest;
  auto take = [&](const fs::path& file) {
    auto r = read_record(file);
    if (!r) return;
    auto old = newest.find(r->result.lab);
    if (old == newest.end() || old->second.result.attempt < r->result.attempt)
      newest.insert_or_assign(r->result.lab, std::move(*r));
  };
  std::error_code ec;
  if (fs::is_directory(at, ec)) {
    p.name = at.filename().string();
    std::size_t looked = 0;
    for (auto it = fs::recursive_directory_iterator(at, fs::directory_options::skip_permission_denied, ec);
         !ec && it != fs::recursive_directory_iterator() && looked < 100000; it.increment(ec), ++looked)
      if (it->path().extension() == ".json") take(it->path());
  } else if (fs::exists(at, ec)) {
    p.name = at.stem().string();
    take(at);
  } else {
    throw Error(Exit::usage, "there is no " + path, "name records, or folders that hold some");
  }
  for (auto& [lab, r] : newest) p.records.push_back(std::move(r));
  if (p.records.empty())
    throw Error(Exit::usage, fmt::format("{} holds no record", path),
                "records lie in work/.ridge/results/; see docs/result-format.md");
  p.home = home_of(at, p.records);
  if (p.home != at) p.name = p.home.filename().string();
  if (p.home == own || p.name == "results") p.name = kOwn;
  return p;
}

Person own_results(const std::string& name) {
  Person p{name.empty() ? kOwn : name, {}, fs::absolute(results_dir()).lexically_normal()};
  for (const Lab& lab : load_labs()) {
    const LabState state = state_of(lab);
    auto r = read_record(results_dir() / lab.name / (state.last_attempt + ".json"));
    if (state.last_attempt.empty() || !r) continue;
    if (state.last_built) {  // the last attempt may have judged only one task
      r->result.tasks.clear();
      for (const TaskState& t : state.tasks)
        if (t.last) r->result.tasks.push_back(*t.last);
      r->result.points = state.points, r->result.max = state.max;
    }
    for (const auto& [file, hash] : state.files)
      if (const auto text = kept_file(hash)) r->sources[file] = *text;
    r->stops = stops_of(lab);
    r->own = true;
    p.records.push_back(std::move(*r));
  }
  if (p.records.empty())
    throw Error(Exit::usage, "there are no results yet", "`./ridge check 01` makes one; or name records or folders");
  return p;
}

// Records of one person's folder are one person's, newer ones instead of older ones of a lab.
void add_person(std::vector<Person>& people, Person more) {
  const auto known = std::find_if(people.begin(), people.end(), [&](const Person& p) { return p.home == more.home; });
  if (known == people.end()) {
    people.push_back(std::move(more));
    return;
  }
  for (LabRecord& r : more.records) {
    const auto old = std::find_if(known->records.begin(), known->records.end(),
                                  [&](const LabRecord& k) { return k.result.lab == r.result.lab; });
    if (old == known->records.end())
      known->records.push_back(std::move(r));
    else if (old->result.attempt < r.result.attempt)
      *old = std::move(r);
  }
}

// How well this machine's user predicts, lab after lab, from the journal. Empty where nothing was compared.
std::string calibration_section(const std::vector<Lab>& labs) {
  std::string rows;
  std::vector<Predicted> together;
  auto row = [](const std::string& name, const Calibration& c) {
    return fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
        escaped(name), c.compared, c.near, c.median_ratio ? fmt::format("{:.2g}", *c.median_ratio) : "-");
  };
  for (const Lab& lab : labs) {
    const std::vector<Predicted> all = predictions_of(lab);
    const Calibration c = calibration(all);
    if (c.compared == 0) continue;
    rows += row(lab.name, c);
    together.insert(together.end(), all.begin(), all.end());
  }
  if (rows.empty()) return "";
  return "<section>\n<h2>Predictions</h2>\n<p class=\"soft\">A ratio of 1 is exact: predicted over measured.</p>\n"
         "<div class=\"scroll\"><table><caption>Calibration by lab</caption><thead><tr><th scope=\"col\">Lab</th>"
         "<th scope=\"col\" class=\"n\">Predictions</th><th scope=\"col\" class=\"n\">Right or within a factor of "
         "2</th>"
         "<th scope=\"col\" class=\"n\">Median ratio</th></tr></thead><tbody>\n" +
         rows + row("All", calibration(together)) + "</tbody></table></div>\n</section>\n";
}

// "p0-01_coalescing"
std::string anchor_of(std::size_t person, const LabRecord& r) { return fmt::format("p{}-{}", person, r.result.lab); }

// The labs of one person as cards, each with its points and a link to its section.
std::string overview(const Person& p, std::size_t number) {
  std::string out = "<ul class=\"labs\">\n";
  for (const LabRecord& r : p.records)
    out += fmt::format("<li><span class=\"points\">{} / {:g}</span><a href=\"#{}\">{} {}</a>{}</li>\n", r.result.points,
                       r.result.max, escaped(anchor_of(number, r)),
                       escaped(r.result.lab.substr(0, r.result.lab.find('_'))), escaped(r.result.title),
                       points_bar(r.result.points, r.result.max));
  return out + "</ul>\n";
}

// The points of several people: a row for each, and a column for each lab under its number.
std::string class_table(const std::vector<Person>& people) {
  std::set<std::string> columns;
  for (const Person& p : people)
    for (const LabRecord& r : p.records) columns.insert(r.result.lab);
  std::string out =
      "<div class=\"scroll\"><table><caption>Points by lab</caption><thead><tr><th scope=\"col\">Name</th>";
  for (const std::string& lab : columns)
    out += fmt::format("<th scope=\"col\" class=\"n\"><abbr title=\"{}\">{}</abbr></th>", escaped(lab),
                       escaped(lab.substr(0, lab.find('_'))));
  out += "<th scope=\"col\" class=\"n\">Sum</th></tr></thead><tbody>\n";
  for (std::size_t i = 0; i < people.size(); ++i) {
    double sum = 0;
    out += fmt::format("<tr><th scope=\"row\"><a href=\"#p{}\">{}</a></th>", i, escaped(people[i].name));
    for (const std::string& lab : columns) {
      std::string cell = "-";
      for (const LabRecord& r : people[i].records)
        if (r.result.lab == lab) cell = points_text(r.result.points), sum += r.result.points;
      out += fmt::format("<td class=\"n\">{}</td>", cell);
    }
    out += fmt::format("<td class=\"n\">{}</td></tr>\n", points_text(sum));
  }
  return out + "</tbody></table></div>\n";
}

}  // namespace

int html_report(const std::string& out_file, const std::vector<std::string>& paths, const std::string& name) {
  std::vector<Person> people;
  if (paths.empty()) people.push_back(own_results(name));
  for (const std::string& path : paths) add_person(people, read_person(path));
  if (people.size() == 1 && !name.empty()) people[0].name = name;
  const std::vector<Lab> labs = load_labs();
  const bool many = people.size() > 1;
  const fs::path file = fs::absolute(out_file).lexically_normal();
  const std::string title = many ? fmt::format("Ridge: results of {}", people.size()) : "Ridge: " + people[0].name;
  std::string out = fmt::format("<h1>{}</h1>\n", escaped(title));
  double points = 0, max = 0;
  for (const LabRecord& r : people[0].records) points += r.result.points, max += r.result.max;
  if (many)
    out += class_table(people);
  else
    out += fmt::format("<p class=\"soft\">{} of {:g} points in {} lab{} of high-performance computing with CUDA.</p>\n",
                       points_text(points), max, people[0].records.size(), people[0].records.size() == 1 ? "" : "s");
  for (std::size_t i = 0; i < people.size(); ++i) {
    out += fmt::format("<section id=\"p{}\">\n", i);
    if (many) out += fmt::format("<h1>{}</h1>\n", escaped(people[i].name));
    if (people[i].records.size() > 1) out += overview(people[i], i);
    for (const LabRecord& r : people[i].records) {
      const auto lab = std::find_if(labs.begin(), labs.end(), [&](const Lab& l) { return l.name == r.result.lab; });
      out += lab_html(r, lab == labs.end() ? nullptr : &*lab, file.parent_path(), anchor_of(i, r));
    }
    out += "</section>\n";
  }
  if (paths.empty()) out += calibration_section(labs);
  write_durably(file, whole_page(title, out));
  const std::size_t records = std::accumulate(people.begin(), people.end(), std::size_t{0},
                                              [](std::size_t n, const Person& p) { return n + p.records.size(); });
  fmt::print("{}: {} record{} of {}\n", shown(out_file), records, records == 1 ? "" : "s",
             many ? fmt::format("{} people", people.size()) : people[0].name);
  return 0;
}

}  // namespace ridge::loop
