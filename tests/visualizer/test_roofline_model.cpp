#include <cmath>

#include "roofline/roofline_model.hpp"
#include "support/catch.hpp"

using namespace ridge::viz;

namespace {

// 4 TB/s and 64 Top/s: the ridge point is at 16 operations per byte.
std::vector<Ceiling> two_roofs() {
  return {{"hbm", CeilingKind::bandwidth, "HBM", 4e12, "B/s", ""},
          {"fp32", CeilingKind::compute, "fp32", 64e12, "op/s", ""}};
}

Task counted(double operations, double bytes, double ideal) {
  Task t;
  t.id = "t";
  t.roofline = Roofline{"element", operations, bytes, ideal, {}, Basis::counted};
  return t;
}

Task timed(double operations, double bytes, double seconds) {
  Task t;
  t.id = "t";
  t.roofline = Roofline{"flop", operations, bytes, bytes, seconds, Basis::timed};
  return t;
}

std::vector<double> labels(const std::vector<Tick>& ticks) {
  std::vector<double> out;
  for (const Tick& t : ticks)
    if (t.labelled) out.push_back(t.value);
  return out;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the roof is the lower of bandwidth times intensity and peak") {
  const auto ceilings = two_roofs();
  const Roofs roofs = roofs_of(ceilings);
  CHECK(attainable(roofs, 0.5) == 2e12);
  CHECK(attainable(roofs, 16) == 64e12);
  CHECK(attainable(roofs, 100) == 64e12);
  CHECK(binding(roofs, 15.9) == Binds::memory);
  CHECK(binding(roofs, 16.1) == Binds::compute);
  CHECK(ridge_point(roofs) == 16.0);
}

TEST_CASE("a roof of one kind alone") {
  auto ceilings = two_roofs();
  const std::vector<Ceiling> memory{ceilings[0]}, compute{ceilings[1]};
  CHECK(attainable(roofs_of(memory), 1000) == 4e15);
  CHECK(attainable(roofs_of(compute), 0.001) == 64e12);
  CHECK_FALSE(attainable(roofs_of({}), 1));
  CHECK_FALSE(ridge_point(roofs_of(memory)));
}

TEST_CASE("the first ceiling of each kind is the tasks' roof") {
  auto ceilings = two_roofs();
  ceilings.push_back({"l2", CeilingKind::bandwidth, "L2", 9e12, "B/s", ""});
  ceilings.push_back({"fp16", CeilingKind::compute, "fp16", 1e15, "op/s", ""});
  CHECK(roofs_of(ceilings).memory->id == "hbm");
  CHECK(roofs_of(ceilings).compute->id == "fp32");
}

TEST_CASE("a counted task lies on the roof and points to its ideal") {
  const auto ceilings = two_roofs();
  const auto p = place(counted(1000, 8000, 2000), 0, roofs_of(ceilings));
  REQUIRE(p);
  CHECK(p->at.intensity == 0.125);
  CHECK(p->at.rate == 0.5e12);
  REQUIRE(p->ideal);
  CHECK(p->ideal->intensity == 0.5);
  CHECK(p->ideal->rate == 2e12);
  CHECK(p->fraction == 0.25);
  CHECK(fraction_text(*p) == "at most 25%");
}

TEST_CASE("an ideal beyond the ridge point gains only up to the peak") {
  const auto ceilings = two_roofs();
  const auto p = place(counted(1000, 125, 25), 0, roofs_of(ceilings));  // 8 -> 40 operations per byte
  CHECK(p->ideal->rate == 64e12);
  CHECK(p->fraction == 0.5);
}

TEST_CASE("a timed task lies at its rate") {
  const auto ceilings = two_roofs();
  const auto p = place(timed(1e9, 2e9, 1e-3), 3, roofs_of(ceilings));
  REQUIRE(p);
  CHECK(p->task == 3);
  CHECK(p->at.intensity == 0.5);
  CHECK(p->at.rate == Approx(1e12));
  CHECK(*p->fraction == Approx(0.5));
  CHECK(fraction_text(*p) == "50%");
  CHECK_FALSE(p->ideal);
}

TEST_CASE("no point without the numbers for it") {
  const auto ceilings = two_roofs();
  const Roofs roofs = roofs_of(ceilings);
  Task none;
  CHECK_FALSE(place(none, 0, roofs));
  CHECK(has(why_no_point(none, roofs), "no roofline numbers"));
  CHECK_FALSE(place(timed(1e9, 0, 1), 0, roofs));
  CHECK(has(why_no_point(timed(1e9, 0, 1), roofs), "bytes were not counted"));
  CHECK_FALSE(place(timed(0, 1e9, 1), 0, roofs));
  CHECK(has(why_no_point(timed(0, 1e9, 1), roofs), "operations were not counted"));
  Task unmeasured = timed(1e9, 1e9, 1);
  unmeasured.roofline->seconds.reset();
  CHECK_FALSE(place(unmeasured, 0, roofs));
  CHECK(has(why_no_point(unmeasured, roofs), "not timed"));
  CHECK_FALSE(place(timed(1e300, 1e-300, 1), 0, roofs));  // overflows
  CHECK_FALSE(place(counted(1, 1, 1), 0, Roofs{}));       // nothing to place it under
  CHECK(place(timed(1, 1, 1), 0, Roofs{}));
}

TEST_CASE("advice derives its numbers") {
  const auto ceilings = two_roofs();
  const Roofs roofs = roofs_of(ceilings);
  const auto say = [&](const Task& t) { return advice(*place(t, 0, roofs), t, roofs); };
  CHECK(say(counted(1000, 8000, 2000)) ==
        "Memory roof (HBM) binds: 4.0\u00d7 less traffic would lift what is attainable 4.0\u00d7."
        " 32\u00d7 more operations per byte would meet the fp32 roof.");
  CHECK(has(say(counted(1000, 125, 25)), "5.0\u00d7 less traffic would lift what is attainable 2.0\u00d7."));
  CHECK(has(say(counted(1000, 2010, 2000)), "already the least"));
  CHECK(say(counted(1000, 10, 5)) == "Compute roof (fp32) binds: less traffic would not lift it.");
  CHECK(has(say(timed(1e9, 2e9, 1e-3)), "Memory roof (HBM) binds: 2.0\u00d7 faster would reach it."));
  CHECK(has(say(timed(1e9, 2e9, 5e-4)), "has reached it"));
  CHECK(has(say(timed(1e9, 2e9, 1e-4)), "above it"));
  CHECK(has(say(timed(64e9, 1e6, 4e-3)), "Compute roof (fp32) binds: 4.0\u00d7 faster"));
}

TEST_CASE("where caches keep the traffic from HBM, the card and the HBM point say the same") {
  const auto ceilings = two_roofs();
  const Roofs roofs = roofs_of(ceilings);
  Task t = counted(1000, 200, 50);              // 5 operations a requested byte
  t.kernels.push_back({"k", 1, 400, 200, 40});  // 25 a byte of HBM: right of the ridge point
  const auto p = place(t, 0, roofs);
  CHECK(p->binds == Binds::memory);
  CHECK(
      advice(*p, t, roofs) ==
      "If all of this traffic reached HBM, the memory roof (HBM) would bind: 4.0\u00d7 less traffic would lift what is "
      "attainable 3.2\u00d7. The caches keep most of it: HBM moves 40 B, and then the fp32 roof binds.");
  t.kernels[0].dram = 150;  // left of it as well
  CHECK(has(advice(*place(t, 0, roofs), t, roofs), "Memory roof (HBM) binds"));
}

TEST_CASE("a task that passes below its roof says that its goals ask for no more") {
  const auto ceilings = two_roofs();
  Task t = counted(1000, 8000, 5440);
  const auto p = place(t, 0, roofs_of(ceilings));
  CHECK(fraction_text(*p) == "at most 68%");
  CHECK(below_the_roof(*p, t).empty());
  t.status = "passed";
  CHECK(has(below_the_roof(*p, t), "All goals are met"));
  Task best = counted(1000, 8000, 8000);
  best.status = "passed";
  CHECK(below_the_roof(*place(best, 0, roofs_of(ceilings)), best).empty());
}

TEST_CASE("numbers read as people write them") {
  CHECK(si(4.235e12, "B/s") == "4.24 TB/s");
  CHECK(si(989.4e12, "flop/s") == "989 Tflop/s");
  CHECK(si(999.9e9, "B/s") == "1 TB/s");
  CHECK(si(12, "B/s") == "12 B/s");
  CHECK(times(1.06) == "1.06\u00d7");
  CHECK(times(9.96) == "10\u00d7");
  TaskPoint p;
  p.basis = Basis::timed;
  for (const auto& [fraction, text] : {std::pair{0.994, "99.4%"}, {0.9999, "100%"}, {0.031, "3.1%"}, {1.2, "120%"}}) {
    p.fraction = fraction;
    CHECK(fraction_text(p) == text);
  }
}

TEST_CASE("everything lies inside the extent") {
  const auto ceilings = two_roofs();
  const Roofs roofs = roofs_of(ceilings);
  const std::vector<TaskPoint> points{*place(counted(1000, 8000, 2000), 0, roofs),
                                      *place(timed(1e9, 1e7, 1), 1, roofs)};
  const Extent e = extent_of(points, ceilings);
  for (const TaskPoint& p : points) {
    CHECK(e.x_low < p.at.intensity);
    CHECK(e.x_high > p.at.intensity);
    CHECK(e.y_low < p.at.rate);
    CHECK(e.y_high > p.at.rate);
  }
  CHECK(e.x_high > 16);
  CHECK(e.y_high > 64e12);
  const Extent empty = extent_of({}, {});
  CHECK(empty.x_low < empty.x_high);
  CHECK(empty.y_low < empty.y_high);
}

TEST_CASE("a logarithmic axis") {
  const LogAxis x{0.01, 100, 100, 500};
  CHECK(x.project(0.01) == Approx(100));
  CHECK(x.project(1) == Approx(300));
  CHECK(x.project(100) == Approx(500));
  const LogAxis y{1e9, 1e12, 900, 0};  // upwards
  CHECK(y.project(1e10) == Approx(600));
}

TEST_CASE("ticks step in exponents") {
  CHECK(labels(log_ticks(0.05, 200, 10)) == std::vector<double>{0.1, 1, 10, 100});
  const auto wide = labels(log_ticks(1e-6, 1e6, 5));
  REQUIRE(wide.size() == 5);
  for (std::size_t i = 0; i < wide.size(); ++i) CHECK(wide[i] == Approx(std::pow(10, -6 + 3 * static_cast<int>(i))));
}

TEST_CASE("short axes have 1-2-5 labels") {
  CHECK(labels(log_ticks(0.9, 21, 10)) == std::vector<double>{1, 2, 5, 10, 20});
  CHECK(labels(log_ticks(30, 60, 10)) == std::vector<double>{50});
}

TEST_CASE("minor ticks are 2 to 9") {
  const auto ticks = log_ticks(1, 1000, 10);
  CHECK(ticks.size() == 28);
  CHECK(labels(ticks).size() == 4);
}

TEST_CASE("zooming keeps the value under the mouse, moving keeps the scale") {
  LogAxis axis{1, 1e4, 100, 900};
  const double before = axis.at(300);
  CHECK(axis.project(before) == Approx(300));
  axis.zoom(300, 0.5);
  CHECK(axis.at(300) == Approx(before));
  CHECK(axis.high / axis.low == Approx(100));
  LogAxis down{1, 1e4, 900, 100};  // as on the y axis
  const double there = down.at(250);
  down.zoom(250, 2);
  CHECK(down.at(250) == Approx(there));
  down.move(40);
  CHECK(down.at(290) == Approx(there));
  LogAxis near{1, 1.2, 0, 100};
  near.zoom(50, 1e-9);  // no further in than rounding allows
  CHECK(near.high == 1.2);
}

TEST_CASE("names of roofs in sentences") {
  CHECK(short_name({"bf16", CeilingKind::compute, "tensor cores, bf16", 1, "", ""}) == "bf16 tensor cores");
  CHECK(short_name({"hbm", CeilingKind::bandwidth, "device copy", 1, "", ""}) == "device copy");
}
