// Names of streams as a program's source gives them.
#include <string>
#include <vector>

#include "formats/stream_name.hpp"
#include "support/catch.hpp"

using namespace ridge;

namespace {

// The name in the only line of `text` that makes a stream, of its `nth` turn.
std::string named(const std::vector<std::string>& text, std::size_t nth = 0) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (stream_calls(text[i]) > 0) return stream_variable(text, static_cast<int>(i) + 1, 0, nth);
  return "no call";
}

}  // namespace

TEST_CASE("a stream is called as the variable that cudaStreamCreate fills") {
  CHECK(named({"  cudaStreamCreate(&copies);"}) == "copies");
  CHECK(named({"CHECK(cudaStreamCreateWithFlags(&lanes.in, cudaStreamNonBlocking));"}) == "lanes.in");
  CHECK(named({"if (cudaStreamCreateWithPriority(&(this->high), 0, -5) != 0) return;"}) == "high");
  CHECK(named({"cudaStreamCreate( & streams[ 2 ] );"}) == "streams[ 2 ]");
  CHECK(named({"cudaStreamCreate(&streams[i + 1]);"}) == "streams[i + 1]");
  CHECK(named({"cudaStreamCreate(", "    &below);"}) == "below");
}

TEST_CASE("a loop's streams have their elements' names") {
  const std::vector<std::string> counting = {"for (int i = 0; i < 3; ++i) {", "  make_buffer(i);",
                                             "  cudaStreamCreate(&streams[i]);", "}"};
  CHECK(named(counting) == "streams[0]");
  CHECK(named(counting, 2) == "streams[2]");
  CHECK(named({"for (int i = 1; i < 3; ++i) cudaStreamCreate(&streams[i]);"}, 1) == "streams[i]");  // not told
  CHECK(named({"for (int i = 0; i < 9; i += 2) cudaStreamCreate(&streams[i]);"}, 1) == "streams[i]");
  CHECK(named({"for (int r = 0; r < 3; ++r)", "  cudaStreamCreate(&streams[k]);"}, 1) == "streams[k]");
  CHECK(named({"for (auto& s : streams) cudaStreamCreate(&s);"}, 1) == "streams[1]");
  CHECK(named({"for (std::size_t s = 0; s < kMost; s++) cudaStreamCreate(&lane.stream[s]);"}, 3) == "lane.stream[3]");
  const std::vector<std::string> list = {"for (cudaStream_t* s : {&in, &out})", "  cudaStreamCreate(s);"};
  CHECK(named(list) == "in");
  CHECK(named(list, 1) == "out");
  CHECK(named(list, 2) == "s");  // the program is not as it seems
}

TEST_CASE("what is no variable gives no name") {
  CHECK(named({"cudaStreamCreate(pick(7) ? &a : &b);"}) == "");
  CHECK(named({"cudaStreamCreate("}) == "");
  CHECK(named({"cudaStreamCreate"}) == "");
  CHECK(named({"cudaStreamCreate(&" + std::string(100, 'x') + ");"}) == "");
  CHECK(stream_variable({"x"}, 2, 0, 0) == "");
  CHECK(stream_variable({"x"}, -1, 0, 0) == "");
  CHECK(stream_variable({"cudaStreamCreate(&a);"}, 1, 1, 0) == "");
}

TEST_CASE("two calls on a line are told apart by their places, and else not at all") {
  const auto file = [](const std::string&) {
    return std::vector<std::string>{"cudaStreamCreate(&a); cudaStreamCreate(&b);", "static Lanes lanes;",
                                    "cudaStreamCreate(&in);"};
  };
  using Names = std::vector<std::string>;
  CHECK(stream_variables({{0x30, 0, {{"f.cu", 1}}}, {0x20, 0, {{"f.cu", 1}}}}, file) == Names{"b", "a"});
  CHECK(stream_variables({{0x30, 0, {{"f.cu", 1}}}}, file) == Names{""});
  // An inlined constructor: the inner frame has the call.
  CHECK(stream_variables({{0x40, 0, {{"f.cu", 3}, {"f.cu", 2}}}}, file) == Names{"in"});
  CHECK(stream_variables({{0x40, 0, {{"f.cu", 2}, {"f.cu", 3}}}}, file) == Names{"in"});
  CHECK(stream_variables({{0x40, 0, {}}}, file) == Names{""});
}
