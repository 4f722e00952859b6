#include <set>

#include "course/sample.hpp"
#include "support/catch.hpp"

using namespace ridge::test;

namespace {

ridge::WrongSolution fails(const std::string& name, const std::string& check,
                           ridge::lab::Backend backend = ridge::lab::Backend::cpu) {
  ridge::WrongSolution w;
  w.name = name;
  w.check = check;
  w.backend = backend;
  return w;
}

const std::vector<ridge::WrongSolution> kAll = {fails("a", "correct"),
                                                fails("b", "correct"),
                                                fails("c", "sectors"),
                                                fails("d", "correct"),
                                                fails("e", "time", ridge::lab::Backend::cuda),
                                                fails("f", "sectors")};

std::string names(std::uint64_t seed) {
  std::string text;
  for (const auto& w : sample(kAll, seed)) text += w.name;
  return text;
}

}  // namespace

TEST_CASE("a sample has one wrong solution for each kind of check of the emulator") {
  CHECK(names(0) == "af");
  CHECK(names(1) == "bc");
  CHECK(names(2) == "df");
  CHECK(sample({}, 7).empty());
}

TEST_CASE("a seed repeats its sample, and seeds in a row choose all") {
  CHECK(names(20000) == names(20000));
  std::set<char> seen;
  for (std::uint64_t seed = 20000; seed < 20003; ++seed)
    for (char name : names(seed)) seen.insert(name);
  CHECK(seen == std::set<char>{'a', 'b', 'c', 'd', 'f'});
}

TEST_CASE("at most three kinds of check are in a sample, and seeds in a row choose all") {
  std::vector<ridge::WrongSolution> many;
  for (int i = 0; i < 30; ++i) many.push_back(fails(std::to_string(i), "check" + std::to_string(i % 7)));
  std::set<std::string> seen;
  for (std::uint64_t seed = 20000; seed < 20000 + 21; ++seed) {
    const auto chosen = sample(many, seed);
    CHECK(chosen.size() <= 3);
    for (const auto& w : chosen) seen.insert(w.name);
  }
  CHECK(seen.size() == many.size());
}

TEST_CASE("the seed comes from RIDGE_COURSE_SEED, else from the day") {
  setenv("RIDGE_COURSE_SEED", "41", 1);
  CHECK(sample_seed() == 41);
  setenv("RIDGE_COURSE_SEED", "-1", 1);
  CHECK_THROWS_AS(sample_seed(), std::runtime_error);
  unsetenv("RIDGE_COURSE_SEED");
  CHECK(sample_seed() > 20000);  // October 2024
}
