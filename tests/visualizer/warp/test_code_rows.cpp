// Long lines of source in rows.
#include "support/catch.hpp"
#include "warp/code_rows.hpp"

using ridge::viz::code_rows;

namespace {

// The line again, without the blanks between its rows.
std::string joined(const std::vector<std::string>& rows) {
  std::string all;
  for (const std::string& row : rows)
    for (const char c : row)
      if (c != ' ') all += c;
  return all;
}

std::string without_blanks(const std::string& text) { return joined({text}); }

}  // namespace

TEST_CASE("a line that fits is one row") {
  CHECK(code_rows("  x = y;", 8) == std::vector<std::string>{"  x = y;"});
  CHECK(code_rows("", 40) == std::vector<std::string>{""});
}

TEST_CASE("a long line keeps its index: it goes on in further rows") {
  const std::string line =
      "    out[(y * blocks + threadIdx.x) * width + threadIdx.y] = tile[threadIdx.x][threadIdx.y];";
  for (std::size_t columns = 8; columns < 100; ++columns) {
    const auto rows = code_rows(line, columns);
    INFO(columns);
    CHECK(joined(rows) == without_blanks(line));
    for (const std::string& row : rows) CHECK(row.size() <= columns);
  }
  CHECK(code_rows(line, 60) == std::vector<std::string>{"    out[(y * blocks + threadIdx.x) * width + threadIdx.y] = ",
                                                        "        tile[threadIdx.x][threadIdx.y];"});
}

TEST_CASE("no operator of two characters and no character of UTF-8 is torn") {
  const auto rows = code_rows("    value <<= threadIdx.x;", 12);
  CHECK(rows[0] == "    value ");
  CHECK(code_rows("aaaaaaaaa\u00d7bbbbb", 10)[0] == "aaaaaaaaa\u00d7");
}
