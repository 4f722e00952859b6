#include "grader/result/verify.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "grader/base/defence.hpp"
#include "grader/base/error.hpp"
#include "grader/result/record.hpp"

namespace ridge {

using nlohmann::json;

namespace {

[[noreturn]] void invalid(const std::string& why) { throw Error(Exit::failed, why, ""); }

const json& member(const json& j, const char* key) {
  if (!j.is_object() || !j.contains(key)) invalid(fmt::format("'{}' is missing", key));
  return j[key];
}

std::string text_of(const json& j, const char* key) {
  const json& v = member(j, key);
  if (!v.is_string()) invalid(fmt::format("'{}' is no text", key));
  return v.get<std::string>();
}

[[noreturn]] void no_such_value(const char* key) { invalid(fmt::format("'{}' has a value that there is not", key)); }

template <Named E>
E named(const json& j, const char* key) {
  const auto value = parse<E>(text_of(j, key));
  if (!value) no_such_value(key);
  return *value;
}

void hex_of(const json& j, const char* key, std::size_t digits) {
  std::string text = text_of(j, key);
  if (text.size() != digits || text.find_first_not_of("0123456789abcdef") != std::string::npos)
    invalid(fmt::format("'{}' is not {} hexadecimal digits", key, digits));
}

double number_of(const json& j, const char* key) {
  const json& v = member(j, key);
  if (!v.is_number() || !std::isfinite(v.get<double>())) invalid(fmt::format("'{}' is no number", key));
  return v.get<double>();
}

void check_points(const json& j) {
  double points = number_of(j, "points"), max = number_of(j, "max");
  if (points < 0 || points > max) invalid("points are outside of 0 to max");
}

void check_files(const json& j) {
  hex_of(j, "sha256", 64);
  const json& files = member(j, "files");
  if (!files.is_object()) invalid("'files' is no object");
  for (const auto& item : files.items()) hex_of(files, item.key().c_str(), 64);
  if (j["sha256"] != combined(files.get<Hashes>())) invalid("'sha256' is not the hash of 'files'");
}

// Checks the members that a signed record must have for its figures to mean something.
void check_schema(const json& j) {
  if (text_of(j, "schema") != "ridge.result/1") invalid("the schema is not ridge.result/1");
  for (const char* key : {"attempt", "time", "lab", "title"}) text_of(j, key);
  const auto mode = named<lab::Mode>(j, "mode");
  if (named<Standing>(j, "standing") == Standing::official && mode != lab::Mode::grade)
    invalid("an official result that was not graded");
  named<lab::Backend>(j, "backend");
  if (const auto outcome = named<Outcome>(j, "outcome"); outcome == Outcome::none || outcome == Outcome::built)
    no_such_value("outcome");
  hex_of(j, "nonce", 32);
  check_files(member(j, "submission"));
  check_files(member(j, "harness"));
  if (!member(j, "device").is_object()) invalid("'device' is no object");
  check_points(member(j, "score"));
  const json& tasks = member(j, "tasks");
  if (!tasks.is_array()) invalid("'tasks' is no list");
  double points = 0;
  for (const json& t : tasks) {
    text_of(t, "id");
    named<Status>(t, "status");
    check_points(t);
    points += number_of(t, "points");
  }
  if (std::abs(points - number_of(j["score"], "points")) > 1e-6) invalid("the tasks' points do not add up");
}

PublicKey check_signature(const json& record) {
  const json& s = member(record, "signature");
  if (!s.is_object() || s.size() != 4) invalid("'signature' has other fields than it should");
  if (text_of(s, "algorithm") != "ed25519") no_such_value("algorithm");
  auto key = public_key_from_hex(text_of(s, "public_key"));
  if (!key) invalid("'public_key' is not 64 hexadecimal digits");
  if (text_of(s, "key_id") != key->id()) invalid("'key_id' is not the key's");
  json unsigned_part = record;
  unsigned_part.erase("signature");
  if (!signature_holds(canonical(unsigned_part), *key, text_of(s, "value")))
    invalid("the signature does not fit: the record was changed after it was signed");
  return *key;
}

void check_submission(const Result& r, const fs::path& dir) {
  Lab lab = find_lab(r.lab);
  std::error_code ec;
  if (!fs::is_directory(dir, ec)) throw Error(Exit::usage, "there is no folder " + shown(dir), "check --submission");
  Hashes here = submission_hashes(dir, lab);
  for (const auto& [name, hash] : r.submission_files)
    if (here.count(name) == 0 || here[name] != hash)
      invalid(fmt::format("it is about another submission: {} {}", name,
                          here.count(name) == 0 ? "is missing here" : "differs"));
  for (const auto& [name, hash] : here)
    if (r.submission_files.count(name) == 0) invalid("it is about another submission: it had no " + name);
}

}  // namespace

Verified verify_record(std::string_view text, const VerifyOptions& options) {
  Verified v;
  try {
    json record = parse_json(text);
    v.result = read_result(record);
    if (!record.is_object() || !record.contains("signature")) {
      if (on(Defence::signature)) invalid("not signed");
    }
    if (on(Defence::signature)) {
      if (canonical(record) != text) invalid("not spelled as a judge writes it: the file was changed");
      v.signer = check_signature(record);
      bool known = false;
      for (const PublicKey& key : options.keys) known = known || key == v.signer;
      v.known_signer = known;
      if (!known && !options.keys.empty())
        invalid(fmt::format("signed by {}, which is none of the keys given", v.signer.id()));
    }
    if (!on(Defence::signature)) v.known_signer = true;
    check_schema(record);
    if (!options.after.empty() && v.result.attempt <= options.after)
      invalid(fmt::format("an old record: attempt {} is not after {}", v.result.attempt, options.after));
    if (options.submission && on(Defence::signature)) check_submission(v.result, *options.submission);
  } catch (const Error& e) {
    if (e.code != Exit::failed) throw;
    v.problem = e.what();
  }
  return v;
}

std::vector<Verified> verify_records(const std::vector<std::string>& texts, const VerifyOptions& options) {
  std::vector<Verified> all;
  std::map<std::string, std::string> seen;  // nonce or attempt -> attempt
  for (const std::string& text : texts) {
    Verified v = verify_record(text, options);
    for (const std::string& once : {v.result.nonce, v.result.attempt})
      if (v.problem.empty() && !seen.emplace(once, v.result.attempt).second && on(Defence::signature))
        v.problem = "handed in twice: another record given has the same nonce or attempt";
    all.push_back(std::move(v));
  }
  return all;
}

}  // namespace ridge
