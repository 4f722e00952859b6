// Looks at the pictures that test_screenshot.sh had drawn, whose folder is $RIDGE_VIZ_PICTURES. Where a point
// has to be is computed here from the result file; the layout file gives the axes, and the names of what was
// drawn.
#include <stb_image.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "roofline/label_layout.hpp"
#include "support/catch.hpp"

using nlohmann::json;

namespace {

json read(const std::string& file) {
  std::ifstream in(file);
  INFO(file);
  REQUIRE(in);
  return json::parse(in);
}

struct Picture {
  int width = 0, height = 0;
  std::unique_ptr<unsigned char, void (*)(void*)> pixels{nullptr, stbi_image_free};
  json items, result;

  Picture(const std::string& sample, const std::string& size) {
    const char* folder = std::getenv("RIDGE_VIZ_PICTURES");
    REQUIRE(folder);
    const auto base = std::string(folder) + "/" + sample + "-" + size;
    int channels = 0;
    pixels.reset(stbi_load((base + ".png").c_str(), &width, &height, &channels, 3));
    INFO(base);
    REQUIRE(pixels);
    items = read(base + ".json").at("items");
    result = read(RIDGE_VIZ_DATA "/" + sample + ".json");
  }

  json item(const std::string& name) const {
    for (const json& i : items)
      if (i.at("name") == name) return i;
    FAIL("the layout has no item " << name);
    return {};
  }

  const unsigned char* at(double x, double y) const {
    const int column = static_cast<int>(x), row = static_cast<int>(y);
    REQUIRE(column >= 0);
    REQUIRE(row >= 0);
    REQUIRE(column < width);
    REQUIRE(row < height);
    return pixels.get() + 3 * (row * width + column);
  }

  bool is(double x, double y, const json& rgb) const {
    for (int c = 0; c < 3; ++c)
      if (std::abs(at(x, y)[c] - rgb.at(c).get<int>()) > 6) return false;
    return true;
  }

  // Of 24 places on a circle, the part that has the colour: labels and arrows may cover some of them.
  double ring(double x, double y, double radius, const json& rgb) const {
    int same = 0;
    for (int i = 0; i < 24; ++i) {
      const double a = i * 2 * 3.14159265 / 24;
      same += is(x + radius * std::cos(a), y + radius * std::sin(a), rgb);
    }
    return same / 24.0;
  }

  double project(const char* axis, double value) const {
    const json a = item(axis);
    const double low = std::log10(a.at("low").get<double>()), high = std::log10(a.at("high").get<double>());
    const double from = a.at("pixel_low"), to = a.at("pixel_high");
    return from + (std::log10(value) - low) / (high - low) * (to - from);
  }

  // The roof over an intensity, from the file: its first ceiling of each kind.
  double roof(double intensity) const {
    double bandwidth = 0, peak = 0;
    for (const json& c : result.at("ceilings")) {
      double& slot = c.at("kind") == "bandwidth" ? bandwidth : peak;
      if (slot == 0) slot = c.at("value");
    }
    return std::min(bandwidth * intensity, peak);
  }
};

const std::vector<std::pair<std::string, std::vector<std::string>>> kColours{
    {"counted_three", {"0072B2", "E69F00", "D0407F"}},
    {"timed_three", {"0072B2", "E69F00", "D0407F"}},
    {"timed_one", {"0072B2"}},
    {"close_points", {"0072B2", "E69F00", "D0407F", "56B4E9", "000000"}}};

json rgb_of(const std::string& hex) {
  const auto part = [&](std::size_t i) { return std::stoi(hex.substr(i, 2), nullptr, 16); };
  return {part(0), part(2), part(4)};
}

// Where a task's point has to be, in pixels.
std::pair<double, double> place_of(const Picture& p, const json& task) {
  const json& r = task.at("roofline");
  const double operations = r.at("operations"), intensity = operations / r.at("bytes").get<double>();
  const double rate = r.at("basis") == "timed" ? operations / r.at("seconds").get<double>() : p.roof(intensity);
  return {p.project("x", intensity), p.project("y", rate)};
}

void check_points(const Picture& p, const std::vector<std::string>& colours) {
  const double same_place = 2.0 * p.height / 900;
  for (std::size_t i = 0; i < colours.size(); ++i) {
    const json& task = p.result.at("tasks").at(i);
    const auto id = task.at("id").get<std::string>();
    INFO(id);
    const bool timed = task.at("roofline").at("basis") == "timed";
    const auto [x, y] = place_of(p, task);
    const json drawn = p.item("point/" + id);
    const double radius = drawn.at("radius"), at_x = drawn.at("x"), at_y = drawn.at("y");
    int sharing = 0;  // tasks with this circle
    for (std::size_t k = 0; k < colours.size(); ++k) {
      const json other = p.item("point/" + p.result.at("tasks").at(k).at("id").get<std::string>());
      sharing += other.at("x") == at_x && other.at("y") == at_y;
    }
    CHECK(drawn.at("filled") == timed);
    CHECK(std::hypot(at_x - x, at_y - y) < (sharing > 1 ? same_place + 0.5 : 0.7));
    const json rgb = rgb_of(colours[i]);
    CHECK(p.ring(at_x, at_y, radius, rgb) > 0.6 / sharing);
    const bool innermost = radius < 12.5 * p.height / 900;
    if (innermost && sharing == 1) CHECK(p.is(x, y, rgb) == timed);  // a hollow point shows what is behind
  }
}

}  // namespace

TEST_CASE("pictures have the size asked for, also beyond the screen's, and are not blank") {
  for (const auto& [size, width, height] :
       {std::tuple{"1600x900", 1600, 900}, {"1280x720", 1280, 720}, {"2560x1440", 2560, 1440}}) {
    const Picture p("timed_one", size);
    CHECK(p.width == width);
    CHECK(p.height == height);
    std::set<int> colours;
    for (int i = 0; i < p.width * p.height; ++i) {
      const unsigned char* c = p.pixels.get() + 3 * i;
      colours.insert(c[0] << 16 | c[1] << 8 | c[2]);
    }
    CHECK(colours.size() > 200);
  }
}

TEST_CASE("every point is where its numbers put it, in its colour") {
  for (const auto& [sample, colours] : kColours)
    for (const char* size : {"1600x900", "1280x720"}) {
      INFO(sample << " " << size);
      check_points(Picture(sample, size), colours);
    }
  check_points(Picture("timed_one", "2560x1440"), {"0072B2"});
}

TEST_CASE("a counted point's ideal is drawn at bytes_ideal") {
  const Picture p("counted_three", "1600x900");
  const json& r = p.result.at("tasks").at(2).at("roofline");  // gather: nothing else lies there
  const double intensity = r.at("operations").get<double>() / r.at("bytes_ideal").get<double>();
  CHECK(p.is(p.project("x", intensity), p.project("y", p.roof(intensity)), rgb_of("D0407F")));
}

TEST_CASE("the roof is drawn where the ceilings put it") {
  const Picture p("timed_one", "1600x900");
  const json roof = rgb_of("3A4555");
  for (const double intensity : {0.6, 8.0, 20.0, 40.0}) {
    INFO(intensity);
    CHECK(p.is(p.project("x", intensity), p.project("y", p.roof(intensity)), roof));
    CHECK_FALSE(p.is(p.project("x", intensity), p.project("y", p.roof(intensity)) + 8, roof));
  }
}

TEST_CASE("labels overlap neither each other nor points, and lie in the plot") {
  for (const auto& [sample, colours] : kColours)
    for (const char* size : {"1600x900", "1280x720"}) {
      INFO(sample << " " << size);
      const Picture p(sample, size);
      const auto box_of = [](const json& i) { return ridge::viz::Box{i.at("x0"), i.at("y0"), i.at("x1"), i.at("y1")}; };
      const auto plot = box_of(p.item("plot"));
      std::vector<ridge::viz::Box> seen;
      for (const json& i : p.items) {
        const auto name = i.at("name").get<std::string>();
        if (name.rfind("point/", 0) == 0) {
          const float x = i.at("x"), y = i.at("y"), r = i.at("radius");
          seen.push_back({x - r * 0.7F, y - r * 0.7F, x + r * 0.7F, y + r * 0.7F});
        }
      }
      std::size_t labels = 0;
      for (const json& i : p.items) {
        if (i.at("name").get<std::string>().rfind("label/", 0) != 0) continue;
        ++labels;
        INFO(i.at("name"));
        const auto box = box_of(i);
        for (const auto& other : seen) CHECK(ridge::viz::overlap_area(box, other) == 0);
        CHECK(box.x0 >= plot.x0);
        CHECK(box.y0 >= plot.y0);
        CHECK(box.x1 <= plot.x1);
        CHECK(box.y1 <= plot.y1);
        seen.push_back(box);
      }
      CHECK(labels == colours.size());
    }
}
