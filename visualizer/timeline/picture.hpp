// The rectangles of a frame: at most a few thousand at every zoom.
#pragma once
#include <vector>

#include "timeline/store/store.hpp"

namespace ridge::viz::timeline {

// Maps time to pixels.
struct Window {
  Time from = 0, to = 1;
  float x0 = 0, x1 = 1;
  double per_pixel() const { return static_cast<double>(to - from) / static_cast<double>(x1 - x0); }
  float x(Time t) const {
    return x0 + static_cast<float>((static_cast<double>(t) - static_cast<double>(from)) / per_pixel());
  }
  Time at(float pixel) const { return from + static_cast<Time>(static_cast<double>(pixel - x0) * per_pixel()); }
};

struct Band {
  std::uint32_t row = 0;
  float y0 = 0, y1 = 0;
};

// One event, or several that are too narrow to be distinguished.
struct Piece {
  float x0 = 0, x1 = 0, y0 = 0, y1 = 0;
  std::uint32_t event = 0, count = 1;  // event: the first of `count`
  std::uint16_t category = 0;          // the dominant category
  float busy = 1;                      // the busy share of the piece's time
};

struct Picture {
  std::vector<Piece> pieces;
  float narrowest = 2;  // events narrower than these pixels are merged; the budget decides
};

inline constexpr std::size_t kMostPieces = 5000;

void build_picture(const EventStore& store, const std::vector<Band>& bands, const Window& window, Picture& picture);

}  // namespace ridge::viz::timeline
