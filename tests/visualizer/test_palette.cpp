// How far apart the colours of each scheme are for people with normal sight and with the three dichromacies, in CIELAB.
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "kit/theme.hpp"
#include "support/catch.hpp"

using namespace ridge::viz;

namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

// Machado, Oliveira, Fernandes: "A Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE TVCG 15(6),
// 2009, severity 1.0; on linear RGB.
const std::vector<std::pair<std::string, Matrix>> kSights{
    {"normal", {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
    {"protanopia",
     {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}}},
    {"deuteranopia",
     {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}}},
    {"tritanopia",
     {{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}}}};

double linear(ImU32 colour, int shift) {
  const double c = static_cast<double>((colour >> shift) & 0xFF) / 255;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

Vector linear_rgb(ImU32 c) {
  return {linear(c, IM_COL32_R_SHIFT), linear(c, IM_COL32_G_SHIFT), linear(c, IM_COL32_B_SHIFT)};
}

Vector seen(const Matrix& sight, const Vector& rgb) {
  Vector out{};
  for (std::size_t i = 0; i < 3; ++i)
    out[i] = std::clamp(sight[i][0] * rgb[0] + sight[i][1] * rgb[1] + sight[i][2] * rgb[2], 0.0, 1.0);
  return out;
}

// CIELAB of linear sRGB under D65.
Vector lab(const Vector& c) {
  const auto f = [](double t) { return t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116; };
  const double x = f((0.4124564 * c[0] + 0.3575761 * c[1] + 0.1804375 * c[2]) / 0.95047);
  const double y = f(0.2126729 * c[0] + 0.7151522 * c[1] + 0.0721750 * c[2]);
  const double z = f((0.0193339 * c[0] + 0.1191920 * c[1] + 0.9503041 * c[2]) / 1.08883);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double difference(const Matrix& sight, ImU32 a, ImU32 b) {
  const Vector p = lab(seen(sight, linear_rgb(a))), q = lab(seen(sight, linear_rgb(b)));
  return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

double luminance(ImU32 colour) {
  const Vector c = linear_rgb(colour);
  return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
}

// WCAG 2.1.
double contrast(ImU32 a, ImU32 b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

template <typename Check>
void for_all_palettes(Check check) {
  for (const Scheme scheme : {Scheme::light, Scheme::dark})
    for (const bool present : {false, true}) {
      INFO((scheme == Scheme::light ? "light" : "dark") << (present ? ", presenting" : ""));
      check(palette_of(scheme, present), present);
    }
}

}  // namespace

// 2.3 is a just noticeable difference side by side; dots apart from each other on a projector need many times that.
TEST_CASE("the series are told apart by everybody") {
  for_all_palettes([](const Palette& p, bool) {
    for (const auto& [name, sight] : kSights)
      for (std::size_t i = 0; i < p.series.size(); ++i) {
        INFO(name << ": series " << i);
        CHECK(difference(sight, p.series[i], p.paper) > 35);
        for (std::size_t j = 0; j < i; ++j) {
          INFO("and " << j);
          CHECK(difference(sight, p.series[i], p.series[j]) > 20);
        }
      }
  });
}

TEST_CASE("passed and failed are told apart by everybody") {
  for_all_palettes([](const Palette& p, bool) {
    for (const auto& [name, sight] : kSights) {
      INFO(name);
      CHECK(difference(sight, p.passed, p.failed) > 30);
    }
  });
}

TEST_CASE("text is readable on every ground, and more so when presenting") {
  for_all_palettes([](const Palette& p, bool present) {
    for (const ImU32 ground : {p.paper, p.desk, p.line_faint}) {
      CHECK(contrast(p.ink, ground) > (present ? 12 : 7));
      CHECK(contrast(p.muted, ground) > (present ? 7 : 4.5));
    }
    CHECK(contrast(p.on_accent, p.accent) > 4.5);
    CHECK(contrast(p.rail_ink, p.rail) > 7);
    CHECK(contrast(p.tip_ink, p.tip) > 7);
  });
}

TEST_CASE("the simulation knows red from green, and protanopia does not") {
  const ImU32 red = IM_COL32(200, 60, 40, 255), green = IM_COL32(110, 110, 20, 255);
  CHECK(difference(kSights[0].second, red, green) > 50);
  CHECK(difference(kSights[1].second, red, green) < 25);
}
