// Reports in other graders' formats, texts of hostile submissions in them, and what is told of secret cases.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "grader/base/text.hpp"
#include "grader/graded.hpp"
#include "grader/judge/explain.hpp"
#include "grader/judge/feedback.hpp"
#include "grader/result/record.hpp"
#include "grader/result/report_formats.hpp"
#include "grader/worker/worker_messages.hpp"
#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge::test;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Everything that breaks a format: markup, quotes, control characters, invalid UTF-8, a change of direction.
const std::string kHostile =
    std::string("</failure>&<![CDATA[ \"'\x01\x1b[2J\x7f \xff\xc0\xaf\xed\xa0\x80 \xe2\x80\xae]]>\r\n") + '\0';

ridge::Result sample() {
  ridge::Result r;
  r.attempt = "20261121T030405.123Z-3f9a2c";
  r.lab = "01_coalescing";
  r.title = "Memory coalescing";
  r.mode = ridge::lab::Mode::check;
  r.backend = ridge::lab::Backend::cpu;
  r.outcome = ridge::Outcome::failed;
  r.nonce = std::string(32, '0');
  r.points = 25;
  r.max = 60;
  ridge::TaskResult good, bad, skipped;
  good.id = "copy";
  good.status = ridge::Status::passed;
  good.points = good.max = 20;
  good.checks = {{"correct", true, ""}, {"sectors", true, ""}};
  good.goals = {{"sectors", "Sectors", "sectors_over_ideal", "x", "", 1.0, 8, 1.02, 15, 15, true}};
  good.cases = {{"n 1", true, ""}, {"n 31", true, ""}};
  bad.id = "transpose";
  bad.status = ridge::Status::failed;
  bad.points = 5;
  bad.max = 40;
  bad.checks = {{"correct", false, kHostile}, {"sectors", false, "not measured"}};
  bad.goals = {{"sectors", "Sectors", "sectors_over_ideal", "x", "", {}, 8, 1.02, 0, 35, false}};
  bad.cases = {{"33 x 65", false, kHostile}};
  bad.output = kHostile;
  skipped.id = "wgmma";
  skipped.status = ridge::Status::skipped;
  skipped.reason = "needs sm_90a";
  r.tasks = {good, bad, skipped};
  return r;
}

// A small reader of XML: names of elements as they open, texts of attributes unescaped. Fails on anything malformed.
struct Xml {
  std::vector<std::string> opened;
  std::vector<std::pair<std::string, std::string>> attributes;
  bool ok = true;

  explicit Xml(const std::string& text) : s(text) { read(); }

 private:
  void read() {
    if (s.rfind("<?xml", 0) == 0) at = s.find("?>") + 2;
    std::vector<std::string> stack;
    while (ok && at < s.size()) {
      if (s[at] != '<') {
        content();
        continue;
      }
      ++at;
      bool closing = take('/');
      std::string name = word();
      if (name.empty()) ok = false;
      if (closing) {
        if (stack.empty() || stack.back() != name || !take('>')) return fail();
        stack.pop_back();
        continue;
      }
      opened.push_back(name);
      while (ok && !take('>')) {
        if (take('/')) {
          if (!take('>')) return fail();
          name.clear();
          break;
        }
        if (!take(' ')) return fail();
        std::string key = word();
        if (key.empty() || !take('=') || !take('"')) return fail();
        std::size_t end = s.find('"', at);
        if (end == std::string::npos) return fail();
        attributes.emplace_back(key, unescaped(s.substr(at, end - at)));
        at = end + 1;
      }
      if (!name.empty()) stack.push_back(name);
    }
    ok = ok && stack.empty() && opened.size() > 0;
    for (unsigned char c : s) ok = ok && (c >= 0x20 || c == '\n' || c == '\t') && c != 0x7F;
  }

  void fail() { ok = false; }
  bool take(char c) { return at < s.size() && s[at] == c ? (++at, true) : false; }
  std::string word() {
    std::size_t first = at;
    while (at < s.size() && (std::isalnum(static_cast<unsigned char>(s[at])) != 0 || s[at] == '-' || s[at] == '_'))
      ++at;
    return s.substr(first, at - first);
  }
  void content() {
    std::size_t end = std::min(s.find('<', at), s.size());
    unescaped(s.substr(at, end - at));
    at = end;
  }
  std::string unescaped(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '<') fail();
      if (text[i] != '&') {
        out += text[i];
        continue;
      }
      bool known = false;
      for (auto [name, c] :
           {std::pair<const char*, char>{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#10;", '\n'}})
        if (text.compare(i, std::string(name).size(), name) == 0) {
          out += c;
          i += std::string(name).size() - 1;
          known = true;
          break;
        }
      if (!known) fail();
    }
    return out;
  }
  std::string s;
  std::size_t at = 0;
};

}  // namespace

TEST_CASE("text is made printable") {
  CHECK(ridge::printable("plain\n\ttext \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80") ==
        "plain\n\ttext \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
  const std::string r = "\xEF\xBF\xBD";
  CHECK(ridge::printable("a\xFFz") == "a" + r + "z");
  CHECK(ridge::printable("\xC3") == r);                  // cut off
  CHECK(ridge::printable("\xC0\xAF") == r + r);          // longer than need be
  CHECK(ridge::printable("\xED\xA0\x80") == r + r + r);  // half a surrogate pair
  CHECK(ridge::printable("\xE2\x80\xAE") == r);          // right to left from here
  CHECK(ridge::printable("\xC2\x9B") == r);              // a terminal's escape, beyond ASCII
  CHECK(ridge::printable("\x1b[2J\x07\r") == "?[2J??");
  CHECK(ridge::printable(std::string("a\0b", 3)) == "a?b");
  CHECK(ridge::capped("abcdef", 10) == "abcdef");
  CHECK(ridge::capped("ab\xC3\xA9"
                      "cd",
                      3) == "ab\n... (4 bytes more)");
  CHECK(ridge::replaced("aXbX", "X", "YX") == "aYXbYX");
}

TEST_CASE("JUnit XML is well-formed, whatever a submission prints") {
  Xml xml(ridge::junit_report(sample()));
  CHECK(xml.ok);
  CHECK(std::count(xml.opened.begin(), xml.opened.end(), "testsuite") == 3);
  CHECK(std::count(xml.opened.begin(), xml.opened.end(), "testcase") == 5);
  CHECK(std::count(xml.opened.begin(), xml.opened.end(), "failure") == 2);
  CHECK(std::count(xml.opened.begin(), xml.opened.end(), "skipped") == 1);
  bool found = false;
  for (const auto& [name, text] : xml.attributes) found = found || contains(text, "</failure>&<![CDATA[ \"'?");
  CHECK(found);
  CHECK_FALSE(Xml("<a><b></a>").ok);  // the reader itself
  CHECK_FALSE(Xml("<a x=\"<\"/>").ok);
  CHECK_FALSE(Xml("<a>&nbsp;</a>").ok);
}

TEST_CASE("Gradescope's results.json") {
  json j = json::parse(ridge::gradescope_report(sample()));
  CHECK(j["score"] == 25);
  CHECK(j["stdout_visibility"] == "visible");
  double score = 0, max = 0;
  for (const json& t : j["tests"]) {
    score += t["score"].get<double>();
    max += t["max_score"].get<double>();
    CHECK(t["visibility"] == "visible");
  }
  CHECK(score == Approx(25));  // the tests' points are the score's
  CHECK(max == Approx(60));
  CHECK(j["tests"][0]["name"] == "copy/correct");
  CHECK(j["tests"][0]["status"] == "passed");
  CHECK(contains(j["tests"][0]["output"], "n 31 ok"));
  CHECK(j["tests"][2]["status"] == "failed");
  CHECK(contains(j["tests"][4]["output"], "needs sm_90a"));
  CHECK(j["leaderboard"][0]["value"] == 25);
  CHECK(j["leaderboard"][1]["order"] == "asc");  // fewer sectors are better

  ridge::Result secret = sample();
  secret.mode = ridge::lab::Mode::grade;
  j = json::parse(ridge::gradescope_report(secret));
  CHECK(j["stdout_visibility"] == "hidden");
  CHECK_FALSE(contains(j["tests"][0]["output"], "n 31 ok"));  // names only
  CHECK(contains(j["tests"][0]["output"], "n 31"));
}

TEST_CASE("Autolab's lines and PrairieLearn's results.json") {
  std::string text = ridge::autolab_report(sample());
  REQUIRE(std::count(text.begin(), text.end(), '\n') == 2);
  json stages = json::parse(text.substr(0, text.find('\n')));
  json scores = json::parse(text.substr(text.find('\n') + 1));
  CHECK(stages["_presentation"] == "semantic");
  CHECK(stages["stages"] == json({"Build", "Test", "Timing"}));
  CHECK(stages["Test"]["transpose/correct"]["passed"] == false);
  CHECK(contains(stages["Test"]["transpose/correct"]["hint"], "CDATA"));
  CHECK(stages["Timing"]["copy/sectors"]["passed"] == true);
  CHECK(scores["scores"]["copy"] == 20);
  CHECK(scores["scores"]["transpose"] == 5);
  CHECK(scores["scoreboard"] == json({25.0}));

  json p = json::parse(ridge::prairielearn_report(sample()));
  CHECK(p["gradable"] == true);
  CHECK(p["score"].get<double>() == Approx(25.0 / 60));
  CHECK(p["tests"][0]["max_points"] == 5);
  CHECK(p["tests"].size() == 4);
  ridge::Result large = sample();
  for (int i = 0; i < 100; ++i) large.tasks.push_back(large.tasks[1]);
  for (auto& t : large.tasks) t.output = std::string(20000, '\x01');
  for (std::size_t i = 3; i < large.tasks.size(); ++i) large.tasks[i].checks[0].message = std::string(20000, '"');
  CHECK(ridge::prairielearn_report(large).size() < 1'000'000);
  CHECK(json::accept(ridge::prairielearn_report(large)));
}

TEST_CASE("a result's texts are printable, without private folders, and 64 KiB at most") {
  ridge::Result r = sample();
  r.build_output =
      "/tmp/ridge-judge-Ab3xYz/submission/src/copy.cu:4: error\n/var/tmp/ridge-cc-000000/x.s:1: " + kHostile;
  ridge::clean_texts(r);
  CHECK(contains(r.build_output, "copy.cu:4: error\nx.s:1: "));
  CHECK_FALSE(contains(r.build_output, "ridge-judge"));
  CHECK_FALSE(contains(r.tasks[1].checks[0].message, "\x1b"));
  CHECK(contains(r.tasks[1].output, "?[2J"));
  json j = json::parse(ridge::to_json(r));
  CHECK(contains(j["tasks"][1]["output"], "?[2J"));

  r.build_output.assign(200'000, 'x');
  r.tasks[0].checks[0].message.assign(200'000, 'y');
  r.tasks[1].output.assign(200'000, 'z');
  ridge::clean_texts(r);
  std::size_t bytes = r.build_output.size();
  for (const auto& t : r.tasks) {
    bytes += t.output.size();
    for (const auto& c : t.checks) bytes += c.message.size();
    for (const auto& c : t.cases) bytes += c.message.size();
  }
  CHECK(bytes <= ridge::kMaxTextBytes);
  CHECK(contains(r.build_output, "bytes more"));

  r = sample();
  r.standing = ridge::Standing::official;  // what it printed may be the inputs
  r.tasks[1].output = "secret 42";
  r.tasks[1].output_bytes = 9;
  ridge::clean_texts(r);
  CHECK(r.tasks[1].output.empty());
  CHECK(r.tasks[1].output_bytes == 16);
}

TEST_CASE("the class of a case or of a fault holds nothing that the run chose") {
  CHECK(ridge::case_class("rows 257 cols 510") == "rows * cols *");
  CHECK(ridge::case_class("x 1.5, y 2.") == "x *, y *.");
  Folder home;
  std::filesystem::create_directories(home / "src");
  write_file(home / "src/copy.cu", "");
  write_file(home / "worker", std::string("..\0copy_kernel\0..", 17));
  ridge::protocol::Done done;
  auto set = [](auto& field, const std::string& text) { std::snprintf(field, sizeof field, "%s", text.c_str()); };
  set(done.what, "out-of-bounds global store of 4 bytes");
  set(done.kernel, "copy_kernel");
  set(done.detail, "address 0x1234 is 17 bytes behind");
  CHECK(ridge::fault_class(done, "copy.cu:12", home / "worker") ==
        "out-of-bounds global store at copy.cu:12\n    in kernel copy_kernel");
  set(done.kernel, "x0_81102222");  // no kernel of this program: a message in a bottle
  CHECK(ridge::fault_class(done, "x0.81102222:12", home / "worker") == "out-of-bounds global store");
  set(done.what, "x0 is 0.81102222");
  CHECK(ridge::fault_class(done, "", home / "worker") == "an invalid memory access");
  CHECK(ridge::cuda_error_class(700) == "cudaErrorIllegalAddress");
  CHECK(ridge::cuda_error_class(81102222) == "a CUDA call or launch failed");
}

// A report of secret inputs names the kind of a fault where it is in the judge's list.
TEST_CASE("every fault of the broken programs has a class of its own") {
  const std::string head = "// expects: ";
  std::size_t faults = 0;
  for (const auto& entry : std::filesystem::directory_iterator(repository() + "/tests/simt/broken")) {
    std::ifstream in(entry.path());
    std::string first;
    std::getline(in, first);
    const std::size_t end = first.rfind(" at ");
    if (first.rfind(head, 0) != 0 || end == std::string::npos) continue;
    const std::string kind = first.substr(head.size(), end - head.size());
    ridge::protocol::Done done;
    std::snprintf(done.what, sizeof done.what, "%s", kind.c_str());
    const std::string told = ridge::fault_class(done, "", "");
    INFO(entry.path().filename() << ": " << kind << ", told: " << told);
    // One without peer access has no better name.
    CHECK((kind.rfind(told, 0) == 0 || kind.ends_with("without peer access")));
    ++faults;
  }
  CHECK(faults > 50);
}

TEST_CASE("only the answer that is due is taken from a worker") {
  using namespace ridge::protocol;
  Header header;
  header.type = Type::done;
  header.sequence = 7;
  header.payload = sizeof(Done);
  Done done, read;
  std::fill(std::begin(done.what), std::end(done.what), 'x');  // without an end
  auto packet = [&] {
    std::string bytes(sizeof header + sizeof done, 0);
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, &done, sizeof done);
    return bytes;
  };
  CHECK(ridge::parse_done(packet(), 7, read));
  CHECK(std::string(read.what).size() == sizeof read.what - 1);
  CHECK_FALSE(ridge::parse_done(packet(), 8, read));
  CHECK_FALSE(ridge::parse_done(packet() + "x", 7, read));
  CHECK_FALSE(ridge::parse_done(packet().substr(1), 7, read));
  CHECK_FALSE(ridge::parse_done({}, 7, read));
  done.status = static_cast<Status>(99);
  CHECK_FALSE(ridge::parse_done(packet(), 7, read));
  done.status = Status::ok;
  header.type = Type::hello;
  CHECK_FALSE(ridge::parse_done(packet(), 7, read));
}

TEST_CASE("a report of a rank is taken as the answer that is due, with a gate that is known") {
  using namespace ridge::protocol;
  Header header;
  header.type = Type::report;
  header.sequence = 7;
  header.payload = sizeof(Report);
  Report report, read;
  report.gate = Gate::deadlock;
  std::fill(std::begin(report.text), std::end(report.text), 'x');  // without an end
  auto packet = [&] {
    std::string bytes(sizeof header + sizeof report, 0);
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, &report, sizeof report);
    return bytes;
  };
  CHECK(ridge::parse_report(packet(), 7, read));
  CHECK(std::string(read.text).size() == sizeof read.text - 1);
  CHECK_FALSE(ridge::parse_report(packet(), 8, read));
  CHECK_FALSE(ridge::parse_report(packet() + "x", 7, read));
  report.follows = 2;
  CHECK_FALSE(ridge::parse_report(packet(), 7, read));
  report.follows = 1;
  report.gate = static_cast<Gate>(99);
  CHECK_FALSE(ridge::parse_report(packet(), 7, read));
}

TEST_CASE("under the sanitizer a slow rank is forgiven, and hides nothing that another one found") {
  using ridge::Fate;
  const ridge::Explainer explain("", 10);
  auto replies = [] {
    std::vector<ridge::Reply> all(3);
    all[0].done.status = ridge::protocol::Status::fault;
    all[0].done.gate = ridge::protocol::Gate::correct;
    std::snprintf(all[0].done.what, sizeof all[0].done.what, "race on shared memory");
    all[1].fate = Fate::timed_out;
    all[1].replayed = true;
    all[2].fate = Fate::reported;
    all[2].report.gate = ridge::protocol::Gate::deadlock;
    return all;
  };
  std::vector<ridge::Reply> found = replies();
  CHECK(ridge::forgive_slow(found));
  ridge::Gate gate = ridge::explain_all(explain, found, 3);
  CHECK(gate.check == "correct");
  CHECK(contains(gate.message, "rank 0 of 3: race on shared memory"));

  found = replies();
  found[0] = ridge::Reply{};
  CHECK(ridge::forgive_slow(found));
  CHECK(ridge::explain_all(explain, found, 3).check.empty());

  found = replies();
  found[1].replayed = false;  // of the submission's own run, which has no sanitizer
  CHECK_FALSE(ridge::forgive_slow(found));
  found[0] = ridge::Reply{};
  CHECK(ridge::explain_all(explain, found, 3).check != "");
}

TEST_CASE("grade says nothing about the values of secret cases; check says all") {
  Folder home;
  std::string dir = home / "submission";
  std::filesystem::copy(repository() + "/labs/01_coalescing", dir);  // the stub: wrong everywhere
  write_file(
      dir + "/copy.cu",
      "#include \"coalescing.hpp\"\n#include <cstdio>\n"
      "__global__ void far(float* out) { out[1 << 30] = 1; }\n"
      "void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t s) {\n"
      "  float first = 0;\n  cudaMemcpyAsync(&first, in, 4, cudaMemcpyDefault, s);\n  cudaStreamSynchronize(s);\n"
      "  std::printf(\"first %g\\n\", first);\n  if (n > 1) far<<<1, 1, 0, s>>>(out);\n"
      "  else cudaMemcpyAsync(out, in, n * 4, cudaMemcpyDefault, s);\n}\n");
  auto grade = [&](const std::string& mode) {
    std::string file = home / "r.json";
    Run r = run_ridge(home, {mode, "01", "--backend", "cpu", "--submission", dir, "--json", file, "--junit",
                             home / "r.xml", "--gradescope", home / "g.json", "--prairielearn", home / "p.json"});
    INFO(r.out + r.err);
    CHECK(r.code == 1);
    return Graded{r, json::parse(read_file(file))};
  };
  Graded secret = grade("grade");
  std::string wrong = first_failed(secret.task("transpose"))["message"],
              fault = first_failed(secret.task("copy"))["message"];
  CHECK(contains(wrong, "* x *: wrong result"));
  CHECK(wrong.find_first_of("0123456789") == std::string::npos);
  CHECK(contains(fault, "out-of-bounds global store at copy.cu:3"));
  CHECK(contains(fault, "in kernel far"));
  CHECK_FALSE(contains(fault, "thread"));
  CHECK_FALSE(contains(fault, "0x"));
  CHECK(Xml(read_file(home / "r.xml")).ok);
  CHECK(json::parse(read_file(home / "g.json"))["score"] == secret.result["score"]["points"]);
  CHECK(json::accept(read_file(home / "p.json")));

  Graded open = grade("check");
  CHECK(contains(first_failed(open.task("transpose"))["message"], "expected"));
  CHECK(contains(first_failed(open.task("copy"))["message"], "thread (0,0,0)"));
  CHECK(contains(open.task("copy")["output"], "first "));

  // Stored records make the same reports.
  for (const std::string format : {"terminal", "json", "junit", "gradescope", "autolab", "prairielearn"}) {
    Run r = run_ridge(home, {"report", home / "r.json", "--format", format, "-o", home / "out"});
    INFO(format + r.err);
    CHECK(r.code == 0);
    if (format == "json") CHECK(read_file(home / "out") == read_file(home / "r.json"));
    if (format == "junit") CHECK(read_file(home / "out") == read_file(home / "r.xml"));
    if (format == "gradescope") CHECK(read_file(home / "out") == read_file(home / "g.json"));
    if (format == "prairielearn") CHECK(read_file(home / "out") == read_file(home / "p.json"));
  }
  CHECK(run_ridge(home, {"report", home / "r.xml"}).code == 2);
  CHECK(run_ridge(home, {"report", home / "nowhere"}).code == 2);
  CHECK(run_ridge(home, {"report", home / "r.json", "--format", "pdf"}).code == 2);

  Run autolab =
      run_ridge(home, {"check", "01", "--backend", "cpu", "--submission", dir, "--task", "copy", "--autolab"});
  std::string last = autolab.out.substr(autolab.out.rfind('\n', autolab.out.size() - 2) + 1);
  CHECK(json::parse(last)["scores"].contains("copy"));
}
