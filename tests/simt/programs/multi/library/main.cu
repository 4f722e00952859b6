// A small library with include/ and src/, a namespace, and settings by -D; heat spreads until it changes little.
#include <grid/field.hpp>

#include "../../sample.hpp"

int main() {
  const grid::Extent e{21, 13};
  std::vector<grid::Real> now(e.size()), next;
  Random random(35);
  for (grid::Real& v : now) v = random.uniform();
  next = now;
  grid::Field a(e, now), b(e, now);
  const grid::Real rate = 0.2, enough = 2e-3;
  grid::Field moved(std::move(a));
  for (int step = 0;; ++step) {
    expect(step < 500, "the field settles");
    grid::Real change = 0;
    for (int y = 1; y < e.ny - 1; ++y)
      for (int x = 1; x < e.nx - 1; ++x) {
        grid::Real around = now[e.at(x - 1, y)] + now[e.at(x + 1, y)] + now[e.at(x, y - 1)] + now[e.at(x, y + 1)];
        next[e.at(x, y)] = now[e.at(x, y)] + rate * (around - 4 * now[e.at(x, y)]);
        change = std::fmax(change, std::fabs(next[e.at(x, y)] - now[e.at(x, y)]));
      }
    now.swap(next);
    grid::heat_step(moved, b, rate);
    expect(std::fabs(grid::max_difference(moved, b) - change) < 1e-12, "the largest change");
    swap(moved, b);
    if (change < enough) break;
  }
  expect_close(moved.values(), now, 1e-12, "heat");
  std::puts("ok");
}
