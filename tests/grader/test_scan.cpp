// Nothing that decides a grade can be reached from a process in which a submission's code runs: neither the secret seed
// (nor those derived from it), nor the signing key, nor the inputs that the kernels get, nor the expected answers. A
// submission (scan/scan.cu) looks for all of them, in the process of its host code and in the one that repeats its kernels;
// and it is seen to find what was put in its way.
#include <sys/stat.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <random>

#include "checks/fill.hpp"
#include "grader/base/seeds.hpp"
#include "grader/graded.hpp"
#include "support/catch.hpp"

using namespace ridge::test;
namespace fs = std::filesystem;

namespace {

std::string masked(const std::string& name, const std::string& bytes) {
  std::string line = "{\"" + name + "\", " + std::to_string(bytes.size()) + ", {";
  for (char c : bytes) line += std::to_string(static_cast<unsigned char>(c) ^ 0xA5) + ",";
  return line + "}},\n";
}

template <class T>
std::string raw(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(std::data(values)), values.size() * sizeof(T)};
}

struct Scan {
  Folder home;
  std::uint64_t seed;
  std::string key, out;
  int code = -1;

  Scan() : seed((std::uint64_t{std::random_device{}()} << 32) | std::random_device{}()), key(home / "private/key") {
    chmod(home.path.c_str(), 0755);
    fs::create_directories(home / "private");
    Run made = run({RIDGE_SWITCHABLE_PROGRAM, "key", "new", key}, environment(home));
    if (made.code != 0) throw std::runtime_error(made.out + made.err);
  }

  // A seed may lie somewhere as a number, in decimal or in hexadecimal digits.
  static std::string seed_needles(const std::string& name, std::uint64_t value) {
    char hex[17];
    std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(value));
    return masked(name, raw({value})) + masked(name, std::to_string(value)) + masked(name, hex);
  }

  // With `inputs`: also what the kernels are to get and to answer; the process that repeats them has that, as floats.
  std::string needles(bool inputs) const {
    std::string all = seed_needles("seed", seed);
    const std::uint64_t task = ridge::derived_seed(seed, "90_judged/scale");
    all += seed_needles("seed of the task", task);
    const std::string secret = read_file(key), digits = secret.substr(secret.find(' ') + 1, 64);
    all += masked("signing key", digits);
    std::string bytes;
    for (std::size_t i = 0; i + 1 < 64; i += 2) bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
    all += masked("signing key", bytes);
    for (std::uint64_t number = 1; number <= 3; ++number) {
      const std::uint64_t one = ridge::derived_seed(task, "case", number);
      all += seed_needles("seed of a case", one);
      float x[4], a[1];
      ridge::lab::fill_uniform(x, one, 0.01f, 4.0f);
      ridge::lab::fill_uniform(a, one + 1);
      double y[4];
      for (int i = 0; i < 4; ++i) y[i] = double{a[0]} * double{x[i]} + std::exp(double{x[i]});
      all += masked("expected answers", raw({y[0], y[1]}));
      all += masked("expected answers", raw({y[1], y[2]}));
      if (!inputs) continue;
      auto f = [&](int i) { return static_cast<float>(y[i]); };
      all += masked("expected answers", raw({f(0), f(1), f(2), f(3)}));
      all += masked("inputs of the kernels", raw({x[0], x[1], x[2], x[3]}));
    }
    return all;
  }

  const std::string& judged(const std::string& off, const std::string& macros = "", bool in_replay = false) {
    const std::string dir = home / "submission";
    fs::remove_all(dir);
    fs::copy(repository() + "/tests/grader/solutions/90_judged", dir, fs::copy_options::recursive);
    write_file(dir + "/scale.cu", macros + read_file(repository() + "/tests/grader/scan/scan.cu"));
    write_file(dir + "/needles.inc", needles(!in_replay));
    write_file(dir + "/start.inc", std::to_string(std::time(nullptr)) + "\n");
    auto env = environment(home);
    env["RIDGE_DEFENCES_OFF"] = off;
    env["RIDGE_SIGNING_KEY"] = key;
    env["RIDGE_SECRET_SEED"] = std::to_string(seed);
    Run r = run({RIDGE_SWITCHABLE_PROGRAM, "grade", "90_judged", "--backend", "cpu", "--task", "scale", "--submission",
                 dir, "--json", home / "result.json"},
                env, 200);
    code = r.code;
    out = r.out + r.err;
    if (!fs::exists(home / "result.json")) return out;
    const json result = json::parse(read_file(home / "result.json"));
    for (const auto& t : result["tasks"])
      if (t.contains("output")) out += "\n" + t["output"].get<std::string>();
    return out;
  }
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Its own tools are not taken from the scanner, and the judge says what came of it.
const std::string kTools = "symbol-policy,assembly-policy,quiet-secrets";

}  // namespace

TEST_CASE("host code finds no seed, key, input or expected answer", "[scan]") {
  Scan scan;
  scan.judged(kTools);
  INFO(scan.out);
  CHECK(scan.code == 0);
  CHECK(has(scan.out, "looked at "));
  CHECK(!has(scan.out, "FOUND"));
}

TEST_CASE("the scan of a host process finds a copy of a seed", "[scan]") {
  Scan scan;
  CHECK(has(scan.judged(kTools, "#define PLANT_MEMORY\n"), "FOUND seed in memory"));
  CHECK(scan.code != -1);
}

TEST_CASE("the scan of a host process finds what a missing defence leaves in its way", "[.slow]") {
  Scan scan;
  SECTION("the key's file, without the sandbox") {
    CHECK(has(scan.judged(kTools + ",worker-sandbox,landlock"), "FOUND signing key in "));
  }
  SECTION("the judge's environment") { CHECK(has(scan.judged(kTools + ",clean-environment"), "FOUND seed in ")); }
  SECTION("the inputs that kernels get") {
    CHECK(has(scan.judged(kTools + ",decoy-inputs"), "FOUND inputs of the kernels in "));
  }
  CHECK(scan.code != -1);
}

// With the initialisers of the submission switched on there: without that, nothing of its host code would run.
TEST_CASE("the process that repeats the kernels holds no seed, key or expected answer", "[scan]") {
  Scan scan;
  const std::string off = kTools + ",kernel-entries";
  scan.judged(off, "#define IN_REPLAY\n", true);
  INFO(scan.out);
  CHECK(!has(scan.out, "crashed"));
  CHECK(has(scan.out, "correct"));
  scan.judged(off, "#define IN_REPLAY\n#define PLANT_MEMORY\n", true);
  INFO(scan.out);
  CHECK(has(scan.out, "crashed: Aborted"));
}
