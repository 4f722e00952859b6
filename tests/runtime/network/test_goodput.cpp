// What failures leave of a run.
#include <cmath>
#include <random>

#include "clusters.hpp"
#include "network/goodput.hpp"
#include "support/catch.hpp"

using namespace ridge::network;

TEST_CASE("goodput is what a run with drawn failures shows") {
  Reliability r;
  r.gpu_hours_between_failures = 2000;
  r.save_seconds = 90;
  r.restart_seconds = 400;
  const Goodput g = goodput(r, 1024, 0);
  CHECK(g.seconds_between_failures == Approx(2000 * 3600 / 1024.0));
  CHECK(g.interval == Approx(std::sqrt(2 * 90 * g.seconds_between_failures)));
  std::mt19937_64 random(7);
  std::exponential_distribution<double> failure(1 / g.seconds_between_failures);
  double now = 0, trained = 0, next = failure(random);
  while (trained < 5e8) {
    if (now + g.interval + r.save_seconds <= next) {
      now += g.interval + r.save_seconds, trained += g.interval;
      continue;
    }
    do {
      now = next, next = now + failure(random);
    } while (next < now + r.restart_seconds);
    now += r.restart_seconds;
  }
  CHECK(g.fraction == Approx(trained / now).epsilon(0.01));
  CHECK(goodput(r, 1024, g.interval / 4).fraction < g.fraction);
  CHECK(goodput(r, 1024, g.interval * 4).fraction < g.fraction);
  CHECK(goodput({}, 1024, 0).fraction == 1);
}
