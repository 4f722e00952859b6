// The page of results: its code, attempts and pictures, from hostile files too.
#include <nlohmann/json.hpp>

#include "learn/report/attempts_html.hpp"
#include "learn/report/code_html.hpp"
#include "learn/report/warp_svg.hpp"
#include "support/catch.hpp"

using namespace ridge;
using namespace ridge::loop;
using nlohmann::json;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

// A recording with one request for each list of addresses of 32 lanes.
std::string recording(const std::vector<std::vector<std::int64_t>>& requests, const std::string& op) {
  json kernel = {{"kernel", "k<1>"}, {"lines", json::array()}, {"requests", json::array()}};
  for (std::size_t i = 0; i < requests.size(); ++i) {
    kernel["lines"].push_back({{"pc", i}, {"file", "a.cu"}, {"line", 10 + i}, {"op", op}});
    json r = {{"pc", i}, {"op", op}, {"size", 4}, {"lanes", "ffffffff"}, {"addresses", json::array()}};
    for (std::size_t l = 0; l < requests[i].size(); ++l)
      r["addresses"].push_back(l == 0 ? requests[i][0] : requests[i][l] - requests[i][l - 1]);
    const std::int64_t step = requests[i][1] - requests[i][0];
    r["sectors"] = std::min<std::int64_t>(32, 4 * step / 4), r["ideal_sectors"] = 4;
    r["wavefronts"] = step == 128 ? 32 : 1, r["conflicts"] = step == 128 ? 31 : 0;
    kernel["requests"].push_back(r);
  }
  return json{{"schema", "ridge.warp/1"}, {"kernels", {kernel}}}.dump();
}

std::vector<std::int64_t> every(std::int64_t step) {
  std::vector<std::int64_t> all;
  for (std::int64_t l = 0; l < 32; ++l) all.push_back(4096 + step * l);
  return all;
}

}  // namespace

TEST_CASE("the request that costs most is drawn, lane by lane") {
  const std::string svg = warp_svg(recording({every(4), every(64)}, "global_ld"));
  CHECK(contains(svg, "a.cu:11, k&lt;1&gt;: one request of a warp takes 32 sectors, where 4 would do."));
  CHECK(count(svg, "class=\"lane\"") == 32);
  CHECK(count(svg, "class=\"wire\"") == 32);
  CHECK(count(svg, "class=\"frame\"") == 32);
  CHECK(count(svg, "class=\"used\"") == 32);  // one word of each sector
  CHECK(contains(warp_svg(recording({every(4)}, "global_ld")), "takes 4 sectors, as few as can be."));
  const std::string shared = warp_svg(recording({every(4), every(128)}, "shared_ld"));
  CHECK(contains(shared, "takes 32 wavefronts, where 1 would do."));
  CHECK(count(shared, "class=\"again\"") == 31);  // in one bank
}

TEST_CASE("a recording that makes no sense draws nothing") {
  for (
      const char* broken :
      {"", "{", "[]", "{}", R"({"kernels":3})", R"({"kernels":[3,{"requests":[3,{}]}]})",
       R"({"kernels":[{"requests":[{"op":"global_ld","size":4,"lanes":"zz","addresses":[1]}]}]})",
       R"({"kernels":[{"requests":[{"op":"global_ld","size":4,"lanes":"3","addresses":[1]}]}]})",
       R"({"kernels":[{"requests":[{"op":"global_ld","size":4,"lanes":"3","sectors":1,"addresses":[9000000000000000000,9000000000000000000]}]}]})",
       R"({"kernels":[{"requests":[{"op":"global_ld","size":4,"lanes":"1","sectors":1,"addresses":[-5]}]}]})"}) {
    INFO(broken);
    CHECK(warp_svg(broken).empty());
  }
}

TEST_CASE("a line's accesses are drawn alone") {
  const std::string warp = recording({every(4), every(64)}, "global_ld");
  const auto near = line_accesses(warp, "a.cu", 10), far = line_accesses(warp, "a.cu", 11);
  REQUIRE(near.size() == 1);
  REQUIRE(far.size() == 1);
  CHECK(near[0].kernel == "k<1>");
  CHECK(near[0].op == "global_ld");
  CHECK(contains(near[0].svg, "a.cu:10, k&lt;1&gt;: one request of a warp takes 4 sectors, as few as can be."));
  CHECK(contains(far[0].svg, "takes 32 sectors, where 4 would do."));
  CHECK(line_accesses(warp, "a.cu", 12).empty());
  CHECK(line_accesses(warp, "b.cu", 10).empty());
  for (const char* broken :
       {"", "{", "[]", R"({"kernels":3})", R"({"kernels":[3,{"lines":[3,{"file":"a.cu","line":10}]}]})"})
    for (const auto& access : line_accesses(broken, "a.cu", 10)) CHECK(access.svg.empty());
}

TEST_CASE("code shows the task's region with findings below their lines and counts at their ends") {
  TaskResult t;
  t.id = "copy";
  KernelCount k;
  LineCount l{"copy.cu", 4, "global_ld"};
  l.requests = 10, l.sectors = 320, l.ideal_sectors = 40;
  k.lines = {l};
  t.kernels = {k};
  Finding f;
  f.task = "copy", f.goal = "sectors", f.where = "copy.cu:4", f.what = "asks for 32 <sectors>",
  f.why = "Let lanes follow.";
  const std::string text =
      "// before\n// TASK(copy)\n__global__ void k(const float* in) {  /* two\nlines */ x = in[7] + \"<b>\";\n}\n// "
      "END(copy)\nint after;\n";
  const std::string html = code_html("copy.cu", text, t, {f});
  CHECK_FALSE(contains(html, "before"));
  CHECK_FALSE(contains(html, "after"));
  CHECK(contains(html, "<span class=\"kw\">__global__</span>"));
  CHECK(contains(html, "<span class=\"co\">/* two</span>"));
  CHECK(contains(html, "<span class=\"co\">lines */</span>"));
  CHECK(contains(html, "&lt;b&gt;"));
  CHECK_FALSE(contains(html, "<b>"));
  CHECK(contains(html, "32 / 4 sectors"));
  const auto line = html.find("<span class=\"no\">4</span>"),
             note = html.find("asks for 32 &lt;sectors&gt;. Let lanes follow.");
  REQUIRE(line != std::string::npos);
  REQUIRE(note != std::string::npos);
  CHECK(line < note);
  CHECK(note < html.find("<span class=\"no\">5</span>"));
  CHECK(contains(code_html("copy.cu", "int all;\n", t, {}), "<span class=\"no\">1</span>"));
  const std::string raw = code_html("copy.cu", "auto s = u8R\"x(a\n)\" // b)x\"; char c = L'\"'; // c\n", t, {});
  CHECK(contains(raw, "<span class=\"st\">u8R&quot;x(a</span>"));
  CHECK(contains(raw, "<span class=\"st\">)&quot; // b)x&quot;</span>; <span class=\"kw\">char</span>"));
  CHECK(contains(raw, "<span class=\"st\">L&#39;&quot;&#39;</span>; <span class=\"co\">// c</span>"));
}

TEST_CASE("attempts are a path with their notes") {
  CHECK(attempts_html({}, 100).empty());
  Stop first{"2026-11-21T03:04:05Z", "", "", 5, true, {}, 0};
  Stop second{"2026-11-21T03:14:05Z", "neighbours <should> be neighbours", "copy.cu +3 -1", 20, true, {"copy"}, 1};
  Stop third{"2026-11-21T03:24:05Z", "", "copy.cu +1 -0", 20, false, {}, 0};
  const std::string html = attempts_html({first, second, third}, 100);
  CHECK(contains(html, "3 attempts"));
  CHECK(count(html, "<circle") == 3);
  CHECK(contains(html, "<blockquote>neighbours &lt;should&gt; be neighbours</blockquote>"));
  CHECK(contains(html, "copy.cu +3 -1; copy passed; 1 hint taken"));
  CHECK(contains(html, "it did not compile"));
  CHECK_FALSE(contains(attempts_html({first}, 100), "<svg"));  // one point is no path
}
