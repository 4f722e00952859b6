#include "cluster/src/collect/published.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/base/files.hpp"
#include "cluster/src/jobs/array_task.hpp"
#include "formats/json_fields.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/result/record.hpp"
#include "grader/result/result.hpp"
#include "grader/result/verify.hpp"

namespace ridge::cluster {

using nlohmann::json;

namespace {

constexpr std::size_t kMaxAttempt = 48 << 20;

// The reason why a record does not count for this work; empty where it counts.
std::string wrong_with(const std::string& text, const Course& course, const std::string& lab,
                       const std::string& content, const std::string& backend, Result& r) {
  json record;
  try {
    record = parse_json(text);
    r = read_result(record);
  } catch (const Error& e) {
    return fmt::format("the record is {}", e.what());
  }
  if (course.is_signed) {
    VerifyOptions o;
    for (const std::string& key : course.keys) o.keys.push_back(public_key(key));
    if (Verified v = verify_record(text, o); !v.problem.empty()) return "the record does not verify: " + v.problem;
    if (r.standing != Standing::official) return "the record is not an official one";
  }
  if (text_at(record, "schema") != "ridge.result/1") return "the record is not a ridge.result/1";
  if (r.lab != lab) return "the record is about another lab";
  if (text_at(record, "backend") != backend) return "the record is about another backend";
  if (r.outcome != Outcome::passed && r.outcome != Outcome::failed && r.outcome != Outcome::build_failed)
    return "the record has no outcome";
  if (!(r.points >= 0 && r.points <= r.max && std::isfinite(r.max))) return "the record's points make no sense";
  if (const auto files = record.find("submission"); files == record.end() || text_at(*files, "sha256") != content)
    return "the record is about other files";
  return "";
}

std::string shortened(const std::string& text, std::size_t n) { return capped(printable(text), n); }

}  // namespace

void Published::take_record(const std::string& token, std::int64_t work, bool open, const std::string& record,
                            double seconds) {
  Rows w = db_.query("SELECT lab, content, backend FROM work WHERE id = ?", work);
  w.next();
  Result r;
  std::string wrong = wrong_with(record, course_, w.text(0), w.text(1), w.text(2), r);
  if (wrong.empty() && !r.nonce.empty()) {
    Rows copy = db_.query("SELECT token FROM result WHERE nonce = ? AND token <> ?", r.nonce, token);
    if (copy.next()) wrong = "the record is a copy of another attempt's";
  }
  if (!wrong.empty()) {
    book_.note(fmt::format("attempt {}: {}", token, wrong));
    attempts_.failed(token, {"failed", wrong});
    return;
  }
  // One result of a work counts, that of the open attempt. Others are only kept.
  const bool taken = db_.query("SELECT 1 FROM result WHERE work = ? AND counts = 1", work).next();
  const bool counts = open && !taken;
  db_.change("INSERT INTO result VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", token, work, counts, r.outcome, r.points,
             r.max, r.coverage, seconds, r.nonce, record, wall_now());
  if (counts) {
    db_.change("UPDATE attempt SET state = 'graded', ended = ? WHERE token = ?", wall_now(), token);
    db_.change("UPDATE work SET state = 'graded', reason = '' WHERE id = ?", work);
    if (Rows b = db_.query("SELECT built FROM work WHERE id = ? AND built <> ''", work); b.next())
      judged_.push_back(b.text(0));
  } else {
    book_.note(fmt::format("attempt {}: its result came when the attempt had been given up; kept, not counted", token));
  }
}

// Takes one published file into the gradebook, inside a transaction. False: the file is not a valid result.
bool Published::take(const fs::path& file, const std::string& token) {
  auto text = read_regular(file, kMaxAttempt);
  const json a = text ? json::parse(*text, nullptr, false) : json();
  Rows r = db_.query("SELECT work, state FROM attempt WHERE token = ?", token);
  if (!r.next()) return false;
  const std::int64_t work = r.integer(0);
  const bool open = r.text(1) == "open";
  if (db_.query("SELECT 1 FROM result WHERE token = ?", token).next())
    return true;  // a collector took it before it crashed
  if (text_at(a, "schema") != "ridge.attempt/1" || text_at(a, "token") != token) {
    attempts_.failed(token, {"failed", "what it published can't be read"});
    return false;
  }
  const std::string node = shortened(text_at(a, "node"), 100), reason = shortened(text_at(a, "reason"), 600);
  db_.change("UPDATE attempt SET node = ? WHERE token = ?", node, token);
  if (text_at(a, "kind") == "graded") {
    nodes_.worked(node);
    take_record(token, work, open, text_at(a, "record"), number_at(a, "seconds"));
  } else if (text_at(a, "kind") == "built") {
    if (db_.change("UPDATE attempt SET state = 'built', ended = ? WHERE token = ? AND state = 'open'", wall_now(),
                   token) != 0)
      db_.change("UPDATE work SET built = ?, state = 'waiting' WHERE id = ? AND state = 'running'", token, work);
    else if (!db_.query("SELECT 1 FROM work WHERE built = ?", token).next())
      judged_.push_back(token);  // another attempt replaced this one
  } else if (open) {
    const bool sick = flag_at(a, "sick"), hung = flag_at(a, "hung"), usage = flag_at(a, "usage");
    const bool hung_before =
        hung && db_.query("SELECT 1 FROM attempt WHERE work = ? AND state = 'failed' AND reason LIKE ?", work,
                          std::string(kHung) + "%")
                    .next();
    // A usage error is the submission's or the course's: no other node says anything else.
    attempts_.failed(token, {"failed", fmt::format("{} (on {})", reason, node), usage || hung_before});
    db_.change("UPDATE work SET built = '' WHERE id = ?", work);  // the build may be the cause, so it is repeated
    if (!hung && !usage) nodes_.failed(node, reason, sick);
  }
  return true;
}

int Published::collect() {
  std::vector<std::string> tokens;
  std::error_code ec;
  for (fs::directory_iterator it(course_.shared / "spool", ec), end; !ec && it != end; it.increment(ec)) {
    const std::string name = it->path().filename().string();
    if (name[0] != '.' && it->path().extension() == ".json") tokens.push_back(it->path().stem().string());
  }
  if (tokens.empty()) return 0;
  std::sort(tokens.begin(), tokens.end());
  std::vector<std::string> bad;
  {
    Transaction all(db_);
    for (const std::string& token : tokens)
      if (!take(spool_file(course_.shared, token), token)) bad.push_back(token);
    all.commit();
  }
  // Files leave spool/ after the commit. A file that stays is taken again by the next collector, without effect.
  for (const std::string& token : tokens) {
    const bool is_bad = std::find(bad.begin(), bad.end(), token) != bad.end();
    const fs::path from = spool_file(course_.shared, token);
    const fs::path to = is_bad ? course_.shared / "rejected" / (token + ".json") : taken_file(course_.shared, token);
    fs::rename(from, to, ec);
    // Somebody removed the folder. The file itself shows that this is the shared folder still.
    if (std::error_code gone; ec == std::errc::no_such_file_or_directory && fs::exists(from, gone)) {
      make_folders(to.parent_path());
      fs::rename(from, to, ec);
    }
    if (ec)
      throw Error(Exit::environment,
                  fmt::format("cannot move {}: {}", shown(spool_file(course_.shared, token)), ec.message()),
                  "check that this account may write in the shared folder");
  }
  for (const std::string& built : judged_) fs::remove_all(built_dir(course_.shared, built), ec);
  judged_.clear();
  return static_cast<int>(tokens.size());
}

}  // namespace ridge::cluster
