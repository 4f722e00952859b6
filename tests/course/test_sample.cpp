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
  CHECK(names(0) == "ac");
  CHECK(names(1) == "bf");
  CHECK(names(2) == "dc");
  CHECK(sample({}, 7).empty());
}

TEST_CASE("a seed repeats its sample, and seeds in a row choose all") {
  CHECK(names(20000) == names(20000));
  std::set<char> seen;
  for (std::uint64_t seed = 20000; seed < 20003; ++seed)
    for (char name : names(seed)) seen.insert(name);
  CHECK(seen == std::set<char>{'a', 'b', 'c', 'd', 'f'});
}

TEST_CASE("the seed comes from RIDGE_COURSE_SEED, else from the day") {
  setenv("RIDGE_COURSE_SEED", "41", 1);
  CHECK(sample_seed() == 41);
  setenv("RIDGE_COURSE_SEED", "-1", 1);
  CHECK_THROWS_AS(sample_seed(), std::runtime_error);
  unsetenv("RIDGE_COURSE_SEED");
  CHECK(sample_seed() > 20000);  // October 2024
}
