// Signed records: keys, signatures, and everything that `ridge verify` must refuse.
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>

#include "grader/base/sha256.hpp"
#include "grader/graded.hpp"
#include "grader/result/record.hpp"
#include "grader/result/signature.hpp"
#include "grader/result/verify.hpp"
#include "support/catch.hpp"

using namespace ridge::test;
namespace fs = std::filesystem;
using ridge::Verified;
using ridge::VerifyOptions;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string kHash(64, 'a');

ridge::Result sample() {
  ridge::Result r;
  r.attempt = "20261121T030405.123Z-3f9a2c";
  r.time = "2026-11-21T03:04:05Z";
  r.lab = "01_coalescing";
  r.title = "Memory coalescing \xC3\xA9";
  r.mode = ridge::lab::Mode::grade;
  r.standing = ridge::Standing::official;
  r.backend = ridge::lab::Backend::cpu;
  r.outcome = ridge::Outcome::failed;
  r.nonce = "00112233445566778899aabbccddeeff";
  r.submission_files = {{"copy.cu", kHash}};
  r.harness_files = {{"bin/ridge", kHash}};
  r.device = {{"kind", "emulated"}};
  r.run_seconds = 0.1;
  r.points = 12.5;
  r.max = 40;
  ridge::TaskResult t;
  t.id = "transpose";
  t.status = ridge::Status::failed;
  t.points = 12.5;
  t.max = 40;
  t.checks.push_back({"correct", true, "a message with \"quotes\" and \xFF bytes"});
  t.goals.push_back({"sectors", "Sectors", "sectors_over_ideal", "x", "", 1.0 / 3, 4.5, 1.02, 12.5, 40, false});
  r.tasks.push_back(t);
  return r;
}

std::string problem_of(const std::string& text, const VerifyOptions& options = {}) {
  return ridge::verify_record(text, options).problem;
}

template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "no error";
}

// The record with one thing changed, signed anew.
template <class Change>
std::string changed(const Folder& home, Change change) {
  json j = json::parse(ridge::to_json(sample()));
  change(j);
  return ridge::signed_record(ridge::canonical(j), home / "key");
}

}  // namespace

TEST_CASE("SHA-256 gives the standard's values") {
  CHECK(ridge::sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(ridge::sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(ridge::sha256(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  ridge::Sha256 pieces;  // the same in pieces of odd sizes
  for (std::size_t left = 1000, size = 1; left > 0; size = size % 131 + 1) {
    pieces.add(std::string(std::min(size, left), 'b'));
    left -= std::min(size, left);
  }
  CHECK(pieces.hex() == ridge::sha256(std::string(1000, 'b')));
}

TEST_CASE("a key is private, and never overwritten") {
  Folder home;
  ridge::PublicKey key = ridge::new_signing_key(home / "deep/er/key");
  struct stat info {};
  REQUIRE(stat((home / "deep/er/key").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  std::string secret = read_file(home / "deep/er/key");
  CHECK_THROWS(ridge::new_signing_key(home / "deep/er/key"));
  CHECK(read_file(home / "deep/er/key") == secret);
  fs::remove(home / "deep/er/key.pub");
  CHECK_THROWS(ridge::new_signing_key(home / "deep/er/key"));  // the secret alone is enough to stop it
  CHECK(read_file(home / "deep/er/key") == secret);

  CHECK(ridge::sign("text", home / "deep/er/key").key == key);
  chmod((home / "deep/er/key").c_str(), 0640);  // the group may read it
  CHECK(contains(error_of([&] { ridge::sign("text", home / "deep/er/key"); }), "no private file"));
  chmod((home / "deep/er/key").c_str(), 0600);
  fs::create_symlink(home / "deep/er/key", home / "link");
  CHECK_THROWS(ridge::sign("text", home / "link"));
  write_file(home / "short", secret.substr(0, 40));
  chmod((home / "short").c_str(), 0600);
  CHECK(contains(error_of([&] { ridge::sign("text", home / "short"); }), "no signing key"));
  CHECK_THROWS(ridge::sign("text", home / "nowhere"));
}

TEST_CASE("any flipped bit of a signed record is refused") {
  Folder home;
  ridge::new_signing_key(home / "key");
  const std::string text = ridge::signed_record(ridge::to_json(sample()), home / "key");
  REQUIRE(problem_of(text).empty());
  std::size_t accepted = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string other = text;
      other[i] = static_cast<char>(other[i] ^ 1 << bit);
      if (problem_of(other).empty()) ++accepted;
    }
  CHECK(accepted == 0);
  for (std::size_t size = 0; size < text.size(); ++size)  // nor any part of it
    if (problem_of(text.substr(0, size)).empty()) ++accepted;
  CHECK(accepted == 0);
}

TEST_CASE("a record has one spelling") {
  Folder home;
  ridge::new_signing_key(home / "key");
  const std::string text = ridge::signed_record(ridge::to_json(sample()), home / "key");
  const json record = json::parse(text);
  CHECK_FALSE(problem_of(record.dump() + "\n").empty());  // other whitespace
  CHECK_FALSE(problem_of(record.dump(2) + "\n").empty());
  CHECK_FALSE(problem_of(text + "\n").empty());  // something behind it
  CHECK_FALSE(problem_of(text + "{}").empty());
  CHECK_FALSE(problem_of(" " + text).empty());
  CHECK_FALSE(problem_of("\xEF\xBB\xBF" + text).empty());
  auto with = [&](const std::string& from, const std::string& to) {
    auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return std::string(text).replace(at, from.size(), to);
  };
  CHECK_FALSE(problem_of(with(" \"lab\":", " \"lab\": \"02_other\",\n \"lab\":")).empty());  // a key twice
  CHECK_FALSE(problem_of(with("12.5", "12.50")).empty());                                    // the same number
  CHECK_FALSE(problem_of(with("12.5", "NaN")).empty());
  CHECK_FALSE(problem_of(with("12.5", "1e999")).empty());
  CHECK_FALSE(problem_of(with("\"cpu\"", "\"\\u0063pu\"")).empty());  // the same text
  CHECK_FALSE(problem_of("").empty());
  CHECK_FALSE(problem_of("[1]").empty());
  CHECK_FALSE(problem_of(std::string(1 << 20, '[')).empty());
  CHECK(problem_of(ridge::to_json(sample())) == "not signed");
}

TEST_CASE("figures that cannot be are refused, whoever signed them") {
  Folder home;
  ridge::new_signing_key(home / "key");
  CHECK(problem_of(changed(home, [](json&) {})).empty());
  auto refused = [&](auto change) { return !problem_of(changed(home, change)).empty(); };
  CHECK(refused([](json& j) { j["schema"] = "ridge.result/2"; }));
  CHECK(refused([](json& j) { j["score"]["points"] = 41; }));
  CHECK(refused([](json& j) { j["score"]["points"] = 13; }));  // the tasks' points do not add up to it
  CHECK(refused([](json& j) { j["score"]["points"] = "12.5"; }));
  CHECK(refused([](json& j) { j["tasks"][0]["points"] = -1; }));
  CHECK(refused([](json& j) { j["standing"] = "excellent"; }));
  CHECK(refused([](json& j) { j["mode"] = "check"; }));  // official ones are graded
  for (const char* outcome : {"", "built", "excellent"}) CHECK(refused([&](json& j) { j["outcome"] = outcome; }));
  CHECK(refused([](json& j) { j["backend"] = "auto"; }));
  CHECK(refused([](json& j) { j["tasks"][0]["status"] = "build-failed"; }));
  CHECK(refused([](json& j) { j["nonce"] = "short"; }));
  CHECK(refused([](json& j) { j.erase("nonce"); }));
  CHECK(refused([](json& j) { j["submission"]["files"]["copy.cu"] = std::string(64, 'b'); }));
  CHECK(refused([](json& j) { j["harness"]["sha256"] = 7; }));
}

TEST_CASE("a word that no judge writes passes nothing") {
  for (const json& word : {json("excellent"), json(1), json()}) {
    json record = json::parse(ridge::to_json(sample()));
    record["outcome"] = record["tasks"][0]["status"] = word;
    const ridge::Result r = ridge::read_result(record);
    CHECK(r.outcome == ridge::Outcome::none);
    CHECK(r.tasks.at(0).status == ridge::Status::failed);
  }
}

TEST_CASE("who signed, and what for") {
  Folder home;
  ridge::PublicKey course = ridge::new_signing_key(home / "key"), other = ridge::new_signing_key(home / "other");
  const std::string text = ridge::signed_record(ridge::to_json(sample()), home / "key");
  VerifyOptions options;
  options.keys = {other};
  CHECK(contains(problem_of(text, options), course.id()));
  options.keys = {other, course};
  CHECK(problem_of(text, options).empty());
  CHECK(ridge::public_key(course.hex()) == course);
  CHECK(ridge::public_key(home / "key") == course);
  CHECK(ridge::public_key(home / "key.pub") == course);
  CHECK_THROWS(ridge::public_key(home / "nowhere"));

  // A signature of somebody else's over the same record does not become the course's by changing the name.
  json forged = json::parse(ridge::signed_record(ridge::to_json(sample()), home / "other"));
  forged["signature"]["public_key"] = course.hex();
  forged["signature"]["key_id"] = course.id();
  CHECK_FALSE(problem_of(ridge::canonical(forged)).empty());
  forged = json::parse(text);
  forged["signature"]["more"] = 1;
  CHECK_FALSE(problem_of(ridge::canonical(forged)).empty());

  // An old one handed in again.
  options.after = "20261121T030405.123Z-3f9a2b";
  CHECK(problem_of(text, options).empty());
  options.after = "20261121T030405.123Z-3f9a2c";
  CHECK(contains(problem_of(text, options), "old"));
  auto twice = ridge::verify_records({text, text}, {});
  CHECK(twice[0].problem.empty());
  CHECK(contains(twice[1].problem, "twice"));
  std::string same_nonce = changed(home, [](json& j) { j["attempt"] = "20261121T030405.124Z-000000"; });
  CHECK(contains(ridge::verify_records({text, same_nonce}, {})[1].problem, "twice"));
  std::string next = changed(home, [](json& j) {
    j["attempt"] = "20261121T030405.124Z-000000";
    j["nonce"] = std::string(32, '0');
  });
  CHECK(ridge::verify_records({text, next}, {})[1].problem.empty());
}

TEST_CASE("grade signs what it judged, and verify finds out what was changed") {
  Folder home;
  std::string dir = home / "submission";
  fs::copy(repository() + "/solutions/01_coalescing", dir);
  auto env = environment(home);
  env["XDG_CONFIG_HOME"] = home / "config";
  env["RIDGE_SIGNING_KEY"] = "";
  auto ridge = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), ridge_program());
    Run r = run(arguments, env, 60);
    INFO(r.out + r.err);
    return r;
  };
  const std::vector<std::string> grade = {"grade", "01",           "--backend", "cpu",    "--task",
                                          "copy",  "--submission", dir,         "--json", home / "r.json"};
  auto official = grade;
  official.push_back("--official");
  Run without = ridge(official);
  CHECK(without.code == 3);
  CHECK(contains(without.err, "ridge key new"));
  CHECK_FALSE(fs::exists(home / "r.json"));

  CHECK(ridge(grade).code == 0);  // practice, unsigned
  CHECK(json::parse(read_file(home / "r.json"))["standing"] == "practice");
  Run unsigned_one = ridge({"verify", home / "r.json"});
  CHECK(unsigned_one.code == 1);
  CHECK(contains(unsigned_one.out, "not signed"));

  REQUIRE(ridge({"key", "new"}).code == 0);
  CHECK(ridge({"key", "new"}).code == 3);
  const std::string secret = read_file(home / "config/ridge/signing.key").substr(23, 64);
  Run graded = ridge(official);
  CHECK(graded.code == 0);
  const std::string text = read_file(home / "r.json");
  CHECK_FALSE(contains(text + graded.out + graded.err, secret));
  json record = json::parse(text);
  CHECK(record["standing"] == "official");
  CHECK(record["submission"]["files"]["copy.cu"] == ridge::sha256(read_file(dir + "/copy.cu")));
  CHECK(record["submission"]["files"].size() == 4);  // not the lab's own header
  CHECK(record["harness"]["files"].contains("bin/ridge"));
  CHECK(record["harness"]["files"].contains("labs/01_coalescing/check.cpp"));
  CHECK(record["harness"]["files"].contains("lib/libridge_simt.a"));

  const std::string key = home / "config/ridge/signing.key.pub";
  Run valid = ridge({"verify", home / "r.json", "--key", key, "--submission", dir});
  CHECK(valid.code == 0);
  CHECK(contains(valid.out, "official"));
  CHECK(contains(valid.out, "15 / 15"));
  // Without the course's key nobody knows who signed.
  Run unknown = ridge({"verify", home / "r.json"});
  CHECK(unknown.code == 1);
  CHECK(contains(unknown.out, "signed by an unknown key"));
  CHECK_FALSE(contains(unknown.out, "official"));
  CHECK(ridge({"verify", home / "r.json", home / "r.json", "--key", key}).code == 1);
  CHECK(ridge({"verify", home / "r.json", "--key", key, "--after", record["attempt"]}).code == 1);
  CHECK(ridge({"verify", "--key", key, home / "r.json", home / "r.json"}).code == 1);  // a key, and two files
  CHECK(ridge({"verify", home / "nowhere.json"}).code == 2);
  CHECK(ridge({"verify", home / "r.json", "--key", "nonsense"}).code == 2);
  CHECK(ridge({"verify"}).code == 2);

  write_file(dir + "/copy.cu", read_file(dir + "/copy.cu") + "// one more line\n");
  CHECK(contains(ridge({"verify", home / "r.json", "--submission", dir}).out, "copy.cu differs"));
  write_file(dir + "/more.cuh", "\n");
  fs::copy_file(repository() + "/solutions/01_coalescing/copy.cu", dir + "/copy.cu",
                fs::copy_options::overwrite_existing);
  CHECK(contains(ridge({"verify", home / "r.json", "--submission", dir}).out, "more.cuh"));

  env["RIDGE_SIGNING_KEY"] = secret;  // a key itself is not taken, nor repeated
  Run value = ridge(grade);
  CHECK(value.code == 2);
  CHECK_FALSE(contains(value.out + value.err, secret));
}

// Others can check a record without Ridge: the bytes that are signed are the file without the lines of its signature.
TEST_CASE("openssl verifies the same signature") {
  Folder home;
  if (run({"sh", "-c", "command -v openssl"}, {}).code != 0) {
    WARN("skipped: no openssl here");
    return;
  }
  ridge::PublicKey key = ridge::new_signing_key(home / "key");
  write_file(home / "r.json", ridge::signed_record(ridge::to_json(sample()), home / "key"));
  const std::string value = json::parse(read_file(home / "r.json"))["signature"]["value"];
  auto bytes = [](const std::string& hex) {
    std::string out;
    for (std::size_t i = 0; i < hex.size(); i += 2) out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    return out;
  };
  write_file(home / "public.der", bytes("302a300506032b6570032100" + key.hex()));
  write_file(home / "value", bytes(value));
  auto verified = [&] {
    return run({"sh", "-c",
                "sed '/^ \"signature\": {$/,/^ },$/d' r.json > message && openssl pkeyutl -verify -rawin -pubin "
                "-keyform DER -inkey public.der -in message -sigfile value"},
               {}, 20, home.path)
               .code == 0;
  };
  CHECK(verified());
  write_file(home / "r.json", read_file(home / "r.json") + " ");
  CHECK_FALSE(verified());
}
