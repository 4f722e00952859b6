// Differences of texts, metrics as a list, sections, SVG, and names that were mistyped.
#include "grader/base/text.hpp"
#include "grader/measure/metrics.hpp"
#include "learn/attempts/line_diff.hpp"
#include "learn/findings/lesson.hpp"
#include "learn/findings/metric_pages.hpp"
#include "learn/report/svg.hpp"
#include "support/catch.hpp"

using namespace ridge;
using namespace ridge::loop;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a diff has what was removed and added, and gives both texts back") {
  const std::string before = "a\nb\nc\nd\n", after = "a\nx\nc\nd\ne\n";
  const auto lines = line_diff(before, after);
  std::string old_text, new_text;
  for (const DiffLine& l : lines) {
    if (l.kind != '+') old_text += l.text + "\n";
    if (l.kind != '-') new_text += l.text + "\n";
  }
  CHECK(old_text == before);
  CHECK(new_text == after);
  CHECK(diff_stat(lines).added == 2);
  CHECK(diff_stat(lines).removed == 1);
  CHECK(hunks(lines, 0) == "@@ -2 +2 @@\n-b\n+x\n@@ -0 +5 @@\n+e\n");
  CHECK(hunks(line_diff(before, before)).empty());
  CHECK(diff_stat(line_diff("", after)).added == 5);
  CHECK(diff_stat(line_diff(before, "")).removed == 4);
}

TEST_CASE("metrics come from the documentation, two names of a cell and braces as names of their own") {
  const auto pages = metric_pages(
      "| metric | backend | definition | better |\n|---|---|---|---|\n| `a`, `b` | cpu | what | lower |\n"
      "| `c_{ld,st}.sum` | passes |\n| no name | x |\n");
  REQUIRE(pages.size() == 4);
  CHECK(pages[1].name == "b");
  CHECK(pages[1].meaning == "what");
  CHECK(pages[3].name == "c_st.sum");
  CHECK(pages[3].meaning == "passes");
  const auto gate = metric_pages("## Gates\n| `agree` | the same bits |\n");
  REQUIRE(gate.size() == 1);
  CHECK(gate[0].gate);
  // All that a lab's goals use can be explained.
  const auto all = metric_pages();
  for (const Lab& lab : load_labs())
    for (const Task& t : lab.tasks)
      for (const Goal& g : t.goals) {
        INFO(lab.name << " " << g.metric);
        CHECK(std::any_of(all.begin(), all.end(), [&](const MetricPage& p) { return p.name == g.metric; }));
      }
}

TEST_CASE("sections have the anchors that web sites make of them") {
  const auto all = sections_of(
      "# Lab 01: memory\n```\n# no heading\n```\n## Task 2: `aos_to_soa`\n## Task 2: `aos_to_soa`\n### In-place\n");
  REQUIRE(all.size() == 4);
  CHECK(all[0].anchor == "lab-01-memory");
  CHECK(all[1].anchor == "task-2-aos_to_soa");
  CHECK(all[1].line == 5);
  CHECK(all[2].anchor == "task-2-aos_to_soa-1");
  CHECK(all[3].anchor == "in-place");
}

TEST_CASE("a mistyped name is taken for the nearest, a far one for none") {
  const std::vector<std::string> names = {"check", "grade", "watch", "coalescing"};
  CHECK(nearest("chekc", names) == "check");
  CHECK(nearest("wacth", names) == "watch");
  CHECK(nearest("coalesing", names) == "coalescing");
  CHECK(nearest("coal", names) == "coalescing");
  CHECK(nearest("demolish", names).empty());
  CHECK(nearest("", names).empty());
  CHECK(nearest(std::string(100000, 'x'), names).empty());
}

TEST_CASE("figures hold no markup of their data, and damaged traces give none") {
  CHECK(escaped("<script>\"&'") == "&lt;script&gt;&quot;&amp;&#39;");
  const std::string svg =
      timeline_svg(R"({"traceEvents":[{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"</svg><b>"}},)"
                   R"({"ph":"X","pid":1,"tid":1,"ts":0,"dur":5,"name":"<i>","cat":"kernel"}]})",
                   "task");
  CHECK(contains(svg, "&lt;i&gt;"));
  CHECK_FALSE(contains(svg, "<i>"));
  CHECK_FALSE(contains(svg, "<b>"));
  const std::string waits = timeline_svg(
      R"({"traceEvents":[{"ph":"X","pid":0,"tid":1,"ts":0,"dur":5,"name":"a","cat":"kernel"},)"
      R"({"ph":"s","id":1,"pid":0,"tid":1,"ts":5,"name":"wait"},{"ph":"f","id":1,"pid":0,"tid":2,"ts":5,"name":"wait"},)"
      R"({"ph":"X","pid":0,"tid":2,"ts":5,"dur":5,"name":"b","cat":"kernel"}]})",
      "task");
  CHECK(contains(waits, "class=\"wait\""));
  CHECK_FALSE(contains(svg, "class=\"wait\""));
  for (const char* broken :
       {"", "{", "[]", R"({"traceEvents":5})", R"({"traceEvents":[5,{"ph":7},{"ph":"X","ts":-1,"dur":1e999}]})"})
    CHECK(timeline_svg(broken, "task").empty());
  Result r;
  CHECK(roofline_svg(r).empty());
  r.ceilings = {{"hbm", "bandwidth", "<memory>", "B/s", "", 4e12}};
  TaskResult t;
  t.id = "t<";
  t.roofline = Roofline{100, 400, 400, "flop", {}};
  r.tasks = {t};
  CHECK(contains(roofline_svg(r), "t&lt;"));
  CHECK(contains(roofline_svg(r), "&lt;memory&gt;"));
}

TEST_CASE("a timeline has its streams' names whole, and no arrow over them") {
  const auto drawn = [](const std::string& name) {
    return timeline_svg(R"({"traceEvents": [
      {"ph":"M","name":"thread_name","pid":0,"tid":1,"args":{"name":")" +
                            name + R"("}},
      {"ph":"X","name":"k","cat":"kernel","pid":0,"tid":1,"ts":0,"dur":5},
      {"ph":"X","name":"k","cat":"kernel","pid":1,"tid":2,"ts":5,"dur":5},
      {"ph":"s","name":"wait","pid":0,"tid":1,"ts":4,"id":1},{"ph":"f","name":"wait","pid":1,"tid":2,"ts":5,"id":1}]})",
                        "t");
  };
  const std::string svg = drawn("lanes.gradients_out (stream 15)");
  CHECK(contains(svg, ">rank 0: lanes.gradients_out (stream 15)<"));
  CHECK(svg.find("class=\"wait\"") < svg.find("class=\"name\""));
  CHECK(contains(drawn(std::string(200, 'x')), "xxx...<"));
}
