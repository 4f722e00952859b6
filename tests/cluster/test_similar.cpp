// Tokens, fingerprints and passages of `ridge cluster similar`.
#include <algorithm>
#include <random>
#include <string>

#include "cluster/src/similar/matching.hpp"
#include "support/catch.hpp"

using namespace ridge::cluster::similar;

namespace {

std::vector<std::uint32_t> symbols(const std::string& text) {
  std::vector<std::uint32_t> all;
  for (const Token& t : tokens_of(text, 1000)) all.push_back(t.symbol);
  return all;
}

const std::string kLoop = R"(
__global__ void twice(const float* in, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float v = in[i] * 2.0f;
    if (v > 7) v = sqrtf(v) - in[n - 1 - i];
    out[i] = v;
  }
}
)";

std::vector<Token> random_tokens(std::mt19937& random, std::size_t n, std::uint32_t kinds) {
  std::vector<Token> all(n);
  for (Token& t : all) t = {1 + static_cast<std::uint32_t>(random() % kinds), 0, 0};
  return all;
}

}  // namespace

TEST_CASE("tokens do not see names, comments, layout and numbers") {
  CHECK(symbols("int sum = a[3] + b->x; // all") == symbols("const  long\n total=list [0x1F]/* */+ p.x ;"));
  CHECK(symbols("f(\"one\" \"two\", 'c', R\"(x)\")") == symbols("g(\"other\", 'd', \"y\")"));
  CHECK(symbols("#include <a>\n#pragma unroll\nstd::size_t n = 1'000;") == symbols("unsigned long long k = 2.5e-3f;"));
  CHECK(symbols("threadIdx.x") != symbols("threadIdx.y"));
  CHECK(symbols("float x = y;") == symbols("float a = b;"));
  CHECK(symbols("__shfl_xor_sync(a)") != symbols("__shfl_down_sync(a)"));
  CHECK(symbols("for (;;)") != symbols("while (;;)"));
}

TEST_CASE("tokens know their bytes, and any bytes are a source") {
  const std::string text = "  ab + 12;";
  const auto all = tokens_of(text, 100);
  REQUIRE(all.size() == 4);
  CHECK(text.substr(all[2].begin, all[2].end - all[2].begin) == "12");
  for (const std::string& odd :
       {std::string(), std::string(3, '\0'), std::string("\xff\xfe/\0*", 5), std::string("\"open"),
        std::string("/* open"), std::string("R\"("), std::string("'"), std::string("#")})
    for (const Token& t : tokens_of(odd, 100)) CHECK((t.begin < t.end && t.end <= odd.size()));
  CHECK(tokens_of(std::string(100000, '+'), 100).size() == 100);
}

TEST_CASE("winnowing chooses the least of each window, the rightmost of equals") {
  CHECK(winnow({77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74, 42, 17, 98}, 4) ==
        std::vector<std::uint32_t>{3, 6, 8, 11, 15});  // the paper's own example, its figure 2
  CHECK(winnow({5, 5, 5}, 2) == std::vector<std::uint32_t>{1, 2});
  CHECK(winnow({9, 3}, 8) == std::vector<std::uint32_t>{1});
  CHECK(winnow({}, 8).empty());
}

TEST_CASE("every common run of k + w - 1 tokens shares a fingerprint") {
  std::mt19937 random(1);
  const Sizes sizes;
  for (int round = 0; round < 300; ++round) {
    const std::size_t n = sizes.k + sizes.w - 1;
    const auto common = random_tokens(random, n, 3);
    std::vector<std::uint64_t> hashes[2];
    std::vector<std::uint32_t> places[2];
    for (int side = 0; side < 2; ++side) {
      auto text = random_tokens(random, random() % 60, 3);
      text.insert(text.end(), common.begin(), common.end());
      const auto more = random_tokens(random, random() % 60, 3);
      text.insert(text.end(), more.begin(), more.end());
      hashes[side] = grams(text, sizes.k);
      places[side] = winnow(hashes[side], sizes.w);
    }
    const bool shared = std::any_of(places[0].begin(), places[0].end(), [&](auto a) {
      return std::any_of(places[1].begin(), places[1].end(), [&](auto b) { return hashes[0][a] == hashes[1][b]; });
    });
    CHECK(shared);
  }
}

TEST_CASE("a passage is found where it lies, and what is given or common is not counted") {
  const std::string before = "int unrelated(int a) { return a ? a * a - 1 : 4; }\n";
  const std::vector<HandIn> two = {{"ann", true, {{"one.cu", kLoop}}}, {"bob", true, {{"two.cu", before + kLoop}}}};
  const Comparison c = compare(two, {});
  REQUIRE(c.pairs.size() == 1);
  CHECK(c.pairs[0].of_a.percent() == 100);
  CHECK(c.pairs[0].of_b.percent() < 90);
  REQUIRE(c.pairs[0].passages.size() == 1);
  CHECK(c.pairs[0].passages[0].b.begin == before.size() + 1);
  CHECK(compare(two, {kLoop}).pairs.empty());
  // Six of six have it: nobody has it from somebody. Of five nothing is known yet.
  std::vector<HandIn> all;
  for (int i = 0; i < 5; ++i) all.push_back({std::to_string(i), true, {{"one.cu", kLoop}}});
  CHECK(compare(all, {}).pairs.size() == 10);
  all.push_back({"5", true, {{"one.cu", kLoop}}});
  CHECK(compare(all, {}).pairs.empty());
  CHECK(compare(all, {}).common_tokens > 0);
  Rules every;
  every.common = 1;
  CHECK(compare(all, {}, every).pairs.size() == 15);
}

TEST_CASE("others are compared with the class alone, and no run crosses files") {
  const std::string half = kLoop.substr(0, kLoop.size() / 2), rest = kLoop.substr(half.size());
  const std::vector<HandIn> all = {{"old 1", false, {{"a.cu", kLoop}}},
                                   {"old 2", false, {{"a.cu", kLoop}}},
                                   {"ann", true, {{"a.cu", half}, {"b.cu", rest}}}};
  const Comparison c = compare(all, {});
  REQUIRE(c.pairs.size() == 2);
  for (const Pair& p : c.pairs) {
    CHECK(p.a == 2);
    CHECK(p.passages.size() == 2);
    for (const Passage& x : p.passages) CHECK(x.a.end <= all[2].files[x.a.file].second.size());
  }
}

TEST_CASE("long and monotonous texts end soon") {
  std::string line = "x = ";
  while (line.size() < (1 << 20)) line += "a + ";
  const std::vector<HandIn> all = {{"1", true, {{"a.cu", line}}}, {"2", true, {{"a.cu", line}}}};
  const Comparison c = compare(all, {});
  CHECK(c.cut.size() == 2);
  REQUIRE(c.pairs.size() == 1);
  CHECK(c.pairs[0].of_a.percent() == 100);
}
