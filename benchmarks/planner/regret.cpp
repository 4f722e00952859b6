// How far a planner of lab 14 is from the fastest plan, on clusters that are drawn as its check draws them: the simulated
// time of its plan over that of the fastest plan that fits.
//
// usage: regret FROM TO    clusters FROM to TO - 1; prints a line for each: its number, GPUs, plans that fit, regret
#include <cstdio>
#include <cstdlib>

#include "labs/14_parallel_3d/check/world.hpp"
#ifndef PLANNER
#define PLANNER "solutions/14_parallel_3d/planner.cu"
#endif
#include PLANNER

using ridge::lab::one_way_seed;
using ridge::lab::parallel_3d::World;

static const World* current = nullptr;

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: regret FROM TO\n"), 2;
  for (int i = std::atoi(argv[1]); i < std::atoi(argv[2]); ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    std::uint64_t k = 0, secret = 0;
    do secret = one_way_seed(seed, "regret", k++);
    while (!World(secret, i).is_a_search());
    const World world(secret, i);
    current = &world;
    int fit = 0;
    double least = INFINITY;
    for (const Plan& p : world.plans())
      if (world.memory(p) <= world.problem.machine.memory) ++fit, least = std::min(least, world.seconds(p));
    const Plan plan = planner(world.problem, Simulate([](const Plan& p) { return current->seconds(p); }));
    std::printf("%d %d %d %.4f\n", i, world.problem.machine.gpus, fit, world.seconds(plan) / least);
    std::fflush(stdout);
  }
}
