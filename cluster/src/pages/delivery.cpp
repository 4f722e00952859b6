#include "cluster/src/pages/delivery.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cluster/src/base/files.hpp"
#include "cluster/src/base/strings.hpp"
#include "cluster/src/gradebook/exports.hpp"
#include "cluster/src/intake/entries.hpp"
#include "cluster/src/intake/lms_names.hpp"
#include "cluster/src/intake/roster.hpp"
#include "cluster/src/pages/student_page.hpp"
#include "cluster/src/pages/student_record.hpp"
#include "formats/json_fields.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/result/record.hpp"
#include "grader/result/report_formats.hpp"
#include "grader/sandbox/process.hpp"

namespace ridge::cluster {

using nlohmann::json;

namespace {

// One student's files by name.
struct Parcel {
  Feedback feedback;
  std::map<std::string, std::string> files;
};

// The id as the name of a folder: never hidden, never the folder above.
std::string folder_of(const std::string& id) { return id.starts_with('.') ? "_" + id : id; }

void write_files(const fs::path& dir, const std::map<std::string, std::string>& files) {
  make_folders(dir);
  for (const auto& [name, text] : files) publish(dir / name, text);
}

// Packs the files of `root` that `names` lists. CMake builds this program, and so is here. Names of any script need the
// locale.
void pack(const fs::path& root, const std::vector<std::string>& names, const fs::path& to, bool zip) {
  const fs::path cmake = find_program({"cmake"});
  if (cmake.empty()) throw Error(Exit::environment, "cmake was not found: it packs archives", "install cmake");
  const TemporaryDir scratch("pack");
  publish(scratch.path() / "names", fmt::format("{}\n", fmt::join(names, "\n")));
  const ProcessResult r =
      run_process({"env", "LC_ALL=C.UTF-8", cmake.string(), "-E", "tar", zip ? "cf" : "czf", to.string(),
                   zip ? "--format=zip" : "--format=gnutar", "--files-from=" + (scratch.path() / "names").string()},
                  root, {});
  if (r.exit_code != 0 || chmod(to.c_str(), 0600) != 0)
    throw Error(Exit::environment, fmt::format("cannot write {}: {}", shown(to), printable(r.output)),
                "free some space, or name another folder");
}

// The whole name of a participant's folder, "Jane Doe_4711_assignsubmission_file_". Moodle takes the first number
// between two underscores for the participant's, so that the name may have none.
std::string moodle_folder(const std::string& name, const std::string& number) {
  std::string clean = printable(name);
  for (char& c : clean)
    if (std::string_view("_/\\:*?\"<>|\n\t").find(c) != std::string_view::npos) c = ' ';
  clean = trimmed(clean);
  return fmt::format("{}_{}_assignsubmission_file_", clean.empty() || clean[0] == '.' ? "Participant" : clean, number);
}

// Each student's participant number in this assignment: the worksheet's, else the one in the name of the hand-in. A
// number of another assignment is of no use, so that the class's roster is not asked.
std::map<std::string, std::string> participants(const std::vector<Parcel>& parcels, const fs::path& worksheet) {
  std::map<std::string, std::string> numbers, owner;
  std::vector<Student> rows;
  if (!worksheet.empty()) rows = read_roster(worksheet);
  for (const Parcel& p : parcels) {
    const Grade& g = p.feedback.grade;
    std::string& number = numbers[g.student.id];
    for (const Student& row : rows)
      if (same_student(g.student, row))
        for (const StudentKey& k : row.keys)
          if (k.kind == "participant") number = k.value;
    const auto named = moodle_name(g.source);
    if (named && !number.empty() && number != named->number)
      throw Error(Exit::usage,
                  fmt::format("{} is participant {} in {}, and handed in as {}", g.student.id, number, shown(worksheet),
                              named->number),
                  "name the grading worksheet of this very assignment");
    if (number.empty() && named) number = named->number;
    if (number.empty()) continue;
    if (const auto [at, fresh] = owner.emplace(number, g.student.id); !fresh)
      throw Error(Exit::usage, fmt::format("{} and {} are both participant {}", at->second, g.student.id, number),
                  "correct the worksheet, or the roster");
  }
  return numbers;
}

// Returns the ids of students whose numbers nobody knows.
std::vector<std::string> pack_for_moodle(const std::vector<Parcel>& parcels, const fs::path& worksheet,
                                         const fs::path& zip) {
  const TemporaryDir scratch("moodle");
  std::vector<std::string> names, left;
  const auto numbers = participants(parcels, worksheet);
  for (const Parcel& p : parcels) {
    const Grade& g = p.feedback.grade;
    const std::string& number = numbers.at(g.student.id);
    if (number.empty()) {
      left.push_back(g.student.id);
      continue;
    }
    const auto named = moodle_name(g.source);
    const std::string folder = moodle_folder(named ? named->name : g.student.name, number);
    write_files(scratch.path() / folder, p.files);
    for (const auto& [file, text] : p.files) names.push_back(folder + "/" + file);
  }
  if (!names.empty()) pack(scratch.path(), names, zip, true);
  return left;
}

// Canvas attaches a file of this zip to the submission that its name's numbers tell, and shows it under the student's
// own name for the file. So a source gets the feedback as text, and an archive gets it as an archive of that kind.
std::vector<std::string> pack_for_canvas(Gradebook& book, const Lab& lab, const std::vector<Parcel>& parcels,
                                         const fs::path& zip) {
  const TemporaryDir scratch("canvas");
  std::vector<std::string> names, left;
  for (const Parcel& p : parcels) {
    const std::string& source = p.feedback.grade.source;
    const auto named = canvas_name(source);
    const bool tar = named && (named->file.ends_with(".tar.gz") || named->file.ends_with(".tgz"));
    int copy = 0;
    if (!named || source.find_first_of("/\n") != std::string::npos ||
        (!tar && !named->file.ends_with(".zip") && lab_file(named->file, lab, copy).empty())) {
      left.push_back(p.feedback.grade.student.id);
      continue;
    }
    if (tar || named->file.ends_with(".zip")) {
      const TemporaryDir inner("inner");
      write_files(inner.path(), p.files);
      std::vector<std::string> files;
      for (const auto& [file, text] : p.files) files.push_back(file);
      pack(inner.path(), files, scratch.path() / source, !tar);
    } else {
      publish(scratch.path() / source, student_text(book, lab, p.feedback));
    }
    names.push_back(source);
  }
  if (!names.empty()) pack(scratch.path(), names, zip, true);
  return left;
}

// Gradescope's results.json: a row for each check, and the grade that counts.
std::string gradescope_file(Gradebook& book, const Feedback& f, double points) {
  json j = f.result ? parse_json(gradescope_report(*f.result)) : json{{"tests", json::array()}};
  j.erase("extra_data"), j.erase("leaderboard");
  if (points == 0) points = f.grade.max.value_or(100);
  j["output"] = fmt::format("{}\n{}", fmt::join(grade_notes(book, f), "\n"), text_at(j, "output"));
  // The tests' own points add up to what the judge gave; Gradescope prefers this sum, with lateness and decisions.
  j["score"] = *f.grade.percent / 100 * points;
  j["visibility"] = "after_published";
  return j.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

void refuse(const DeliveryOptions& o) {
  std::error_code ec;
  if (o.lab == "total") throw Error(Exit::usage, "feedback is about one lab", "name it: --lab 03");
  if (o.format == "nbgrader" || o.format == "json")
    throw Error(Exit::usage, fmt::format("there is no feedback in the format {}", o.format),
                "leave --format out, or name moodle, canvas or gradescope");
  if (!o.from.empty() && o.format != "moodle")
    throw Error(Exit::usage, "--from goes with --format moodle here: its grading worksheet tells participants' numbers",
                "Canvas's numbers are those in the names of the hand-ins");
  if (fs::exists(o.dir, ec) && (!fs::is_directory(o.dir, ec) || !fs::is_empty(o.dir, ec)))
    throw Error(Exit::usage, fmt::format("{} is there, and is not empty", shown(o.dir)),
                "name a new folder: old pages among new ones would be handed out, too");
}

}  // namespace

std::string deliver_feedback(Gradebook& book, const DeliveryOptions& o) {
  refuse(o);
  if (!o.ignore_unmatched) require_owners(book, o.lab);
  const Lab lab = find_lab(o.lab);
  std::vector<Parcel> parcels;
  std::size_t nothing = 0, without = 0;
  for (const Grade& g : book.grades(o.lab)) {
    Parcel p{feedback_of(book, g), {}};
    if (p.feedback.hand_ins.empty() && !g.percent) {
      ++nothing;
      continue;
    }
    without += !g.percent;
    p.files["feedback.html"] = student_page(book, lab, p.feedback);
    if (p.feedback.result) p.files["result.json"] = record_for_student(*counting_record(book, o.lab, g.content));
    parcels.push_back(std::move(p));
  }
  // Made beside its place, and named when it is whole.
  const fs::path dir = fs::absolute(o.dir).lexically_normal();
  const fs::path at = dir.has_filename() ? dir : dir.parent_path();
  const fs::path part = at.parent_path() / fmt::format(".{}.{}.tmp", at.filename().string(), new_nonce());
  std::vector<std::string> left;
  std::error_code ec;
  try {
    make_folders(part / "students");
    for (const Parcel& p : parcels) {
      std::map<std::string, std::string> files = p.files;
      if (o.format == "gradescope" && p.feedback.grade.percent)
        files["results.json"] = gradescope_file(book, p.feedback, o.points);
      write_files(part / "students" / folder_of(p.feedback.grade.student.id), files);
    }
    if (o.format == "moodle") left = pack_for_moodle(parcels, o.from, part / "moodle.zip");
    if (o.format == "canvas") left = pack_for_canvas(book, lab, parcels, part / "canvas.zip");
    fs::rename(part, at, ec);
    if (ec)
      throw Error(Exit::environment, fmt::format("cannot make {}: {}", shown(at), ec.message()),
                  "name a folder that this account can make");
  } catch (...) {
    fs::remove_all(part, ec);
    throw;
  }
  std::string note = fmt::format("{}: {} pages", shown(at), parcels.size());
  if (without > 0) note += fmt::format(", {} of them without a grade yet", without);
  if (nothing > 0) note += fmt::format("; {} students handed nothing in, and get none", nothing);
  if (!left.empty())
    note += fmt::format("\nNot in {}.zip, since {}: {}", o.format,
                        o.format == "moodle" ? "their participant numbers are not known (--from takes the worksheet)"
                                             : "their hand-ins have no names of Canvas's",
                        fmt::join(left, ", "));
  return note;
}

}  // namespace ridge::cluster
