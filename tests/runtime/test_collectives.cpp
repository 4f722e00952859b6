// The model of links and the simulator of schedules, against what can be worked out by hand.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "collectives/simulation.hpp"
#include "support/catch.hpp"

using namespace ridge::collectives;

namespace {

Topology built_in(const std::string& name) {
  Topology t;
  std::string error;
  INFO(name << ": " << error);
  REQUIRE(parse_topology(built_in_topology(name), t, error));
  return t;
}

// All ranks on one switch.
Topology flat(double latency, double bandwidth) {
  Topology t;
  t.title = "flat";
  t.levels.push_back({"switch", 0, bandwidth, latency});
  return t;
}

std::string refused(const std::string& toml) {
  Topology t;
  std::string error;
  CHECK_FALSE(parse_topology(toml, t, error));
  return error;
}

// Reduce-scatter and all-gather on a ring; chunk c has a p-th of the elements, the first ones one more.
void ring(Rank& r, std::int64_t count, double bytes_each, double reduce_seconds_per_byte) {
  const int p = r.ranks(), next = (r.rank() + 1) % p, previous = (r.rank() + p - 1) % p;
  auto bytes = [&](int chunk) {
    chunk = (chunk % p + p) % p;
    return bytes_each * static_cast<double>(count / p + (chunk < count % p ? 1 : 0));
  };
  for (int step = 0; step < 2 * (p - 1); ++step) {
    r.group_start();
    r.send(next, bytes(r.rank() - step));
    r.receive(previous, bytes(r.rank() - step - 1));
    r.group_end();
    if (step < p - 1 && reduce_seconds_per_byte > 0) r.kernel(reduce_seconds_per_byte * bytes(r.rank() - step - 1));
  }
  r.synchronize();
}

template <class Program>
std::string deadlock(int ranks, Program program) {
  try {
    simulate(flat(1, 1), ranks, program);
  } catch (const Deadlock& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("every topology that comes along can be read, and names its levels") {
  REQUIRE(built_in_topologies().size() >= 4);
  for (const std::string& name : built_in_topologies()) {
    const Topology t = built_in(name);
    CHECK_FALSE(t.title.empty());
    for (const Level& l : t.levels) CHECK_FALSE(l.name.empty());
  }
  CHECK(built_in("nvswitch").capacity() == 8);
  CHECK(built_in("infiniband").capacity() == 0);
  CHECK(built_in_topology("none").empty());
}

TEST_CASE("a topology that is wrong is refused with its line") {
  CHECK(refused("") == "there is no [[level]]");
  CHECK(refused("[[level]]\nsize = 2\n") == "level '' has no bandwidth");
  CHECK(refused("title = \"x\"\n[[level]]\nsize = many\n") == "line 3: 'many' is not a number");
  CHECK(refused("[[level]]\nspeed = 3\n") == "line 2: unknown key 'speed'");
  CHECK(refused("[[level]]\nsize = 2.5\n") == "line 2: size is a whole number, at most a million");
  CHECK(refused("[[level]]\nbandwidth = 0\n") == "line 2: bandwidth is positive");
  CHECK(refused("[[level]]\nlatency = -1\n") == "line 2: latency is not negative");
  CHECK(refused("[[level]]\nport = \"both\"\n") == "line 2: port is \"rank\" or \"member\"");
  CHECK(refused("[level]\n") == "line 1: expected [[level]] or key = value");
  CHECK(refused("[[level]]\nname = \"a\"\nbandwidth = 1\n[[level]]\nbandwidth = 1\n") ==
        "level 'a' has no size: only the last may have none");
  CHECK(refused("[[level]]\nbandwidth = 1\nlatency = nan\n") == "line 3: 'nan' is not a number");
}

TEST_CASE("a message takes latency and bytes over bandwidth; ports carry one after another") {
  Network n(flat(5, 10), 4);
  Transfer a = n.transfer(0, 1, 100, 2);
  CHECK(a.start == 2);
  CHECK(a.sent == 12);
  CHECK(a.end == 17);
  CHECK(n.transfer(0, 2, 10, 0).start == 12);  // the sender's port
  CHECK(n.transfer(3, 1, 10, 0).start == 12);  // the receiver's
  CHECK(n.transfer(1, 0, 10, 0).start == 0);   // the other way is free
  CHECK(n.transfer(2, 2, 10, 7).end == 7);
  n.reset();
  CHECK(n.transfer(0, 1, 0, 0).end == 5);
  CHECK_THROWS_AS(Network(built_in("nvswitch"), 9), std::invalid_argument);
  CHECK_THROWS_AS(Network(flat(1, 1), 0), std::invalid_argument);
}

TEST_CASE("routes climb to the lowest common level") {
  Topology t;
  t.levels = {{"NVLink", 2, 100, 1, false, true}, {"adapter", 2, 10, 3, true}, {"uplink", 0, 5, 7}};
  Network n(t, 8);
  CHECK(n.kind(n.route(0, 1)).latency == 1);
  CHECK(n.kind(n.route(0, 1)).seconds_per_byte == 1 / 100.0);
  CHECK(n.kind(n.route(0, 2)).latency == 3);
  CHECK(n.kind(n.route(0, 2)).seconds_per_byte == 1 / 10.0);
  CHECK(n.kind(n.route(1, 6)).latency == 7);
  CHECK(n.kind(n.route(1, 6)).seconds_per_byte == 1 / 5.0);
  // Two adapters, one uplink: the second message waits for it.
  CHECK(n.transfer(0, 4, 10, 0).end == 2 + 7);
  CHECK(n.transfer(1, 5, 10, 0).start == 2);
  // Inside of a node NVLink is free of all that.
  CHECK(n.transfer(0, 1, 100, 0).end == 2);
}

TEST_CASE("a ring all-reduce takes 2 (p - 1) (alpha + n / (p beta))") {
  const double alpha = 3e-6, beta = 2e11;
  for (int p : {1, 2, 3, 5, 8, 64}) {
    const std::int64_t count = 960 * 1000;
    Outcome o = simulate(flat(alpha, beta), p, [&](Rank& r) { ring(r, count, 4, 0); });
    const double expected = 2 * (p - 1) * (alpha + 4.0 * static_cast<double>(count) / p / beta);
    INFO("p = " << p);
    CHECK(std::fabs(o.seconds - expected) <= 1e-12 * expected);
    CHECK(o.messages == static_cast<std::uint64_t>(2 * p * (p - 1)));
    for (double bytes : o.bytes_sent) CHECK(std::fabs(bytes - 8.0 * (p - 1) * static_cast<double>(count) / p) < 1);
  }
}

TEST_CASE("a count that the ranks do not divide costs the largest chunk; reductions come on top") {
  const double alpha = 2, beta = 8;
  Outcome o = simulate(flat(alpha, beta), 3, [&](Rank& r) { ring(r, 10, 4, 0.25); });
  // Chunks of 16, 12 and 12 bytes. In each of the four steps some rank waits for the chunk of 16.
  CHECK(o.seconds >= 4 * (alpha + 12 / beta) + 2 * 0.25 * 12);
  CHECK(o.seconds <= 4 * (alpha + 16 / beta) + 2 * 0.25 * 16);
  CHECK(o.bytes_sent[0] + o.bytes_sent[1] + o.bytes_sent[2] == 2 * 2 * 40);
}

TEST_CASE("parts of a group go side by side, groups of a stream one after another") {
  Outcome o = simulate(flat(1, 10), 3, [](Rank& r) {
    if (r.rank() == 0) {
      r.group_start();
      r.send(1, 10);
      r.receive(2, 10);
      r.group_end();
      r.send(1, 10);
    } else if (r.rank() == 1) {
      r.receive(0, 10);
      r.receive(0, 10);
    } else {
      r.send(0, 10);
    }
  });
  // Both of the group end at 2; the next message begins then.
  CHECK(o.rank_seconds[1] == 2 + 2);
  CHECK(o.rank_seconds[2] == 1);  // sent; it arrives later
}

TEST_CASE("streams of a rank overlap, and events order them") {
  auto program = [](bool ordered) {
    return [ordered](Rank& r) {
      const int peer = 1 - r.rank();
      r.kernel(5, 0);
      const int done = r.record(0);
      if (ordered) r.wait(done, 1);
      r.group_start();
      r.send(peer, 30, 1);
      r.receive(peer, 30, 1);
      r.group_end(1);
      r.synchronize();
      CHECK(r.now() == (ordered ? 5 + 4 : 5));
    };
  };
  CHECK(simulate(flat(1, 10), 2, program(true)).seconds == 9);
  CHECK(simulate(flat(1, 10), 2, program(false)).seconds == 5);
}

TEST_CASE("an event may be waited for before its stream comes to it") {
  Outcome o = simulate(flat(1, 10), 2, [](Rank& r) {
    if (r.rank() == 0) {
      r.receive(1, 10, 0);
      const int arrived = r.record(0);
      r.wait(arrived, 1);
      r.kernel(3, 1);
    } else {
      r.kernel(7);
      r.send(0, 10);
    }
  });
  CHECK(o.rank_seconds[0] == 7 + 2 + 3);
}

TEST_CASE("an empty group ends at once") {
  Outcome o = simulate(flat(1, 1), 1, [](Rank& r) {
    r.group_start();
    r.group_end();
    r.kernel(3);
  });
  CHECK(o.seconds == 3);
}

TEST_CASE("the host's calls take time, and a full queue holds it") {
  Costs costs;
  costs.launch_call = 2;
  Outcome o = simulate(
      flat(1, 1), 1,
      [](Rank& r) {
        for (int i = 0; i < 3000; ++i) r.kernel(1);
        CHECK(r.now() == 6000);
      },
      costs);
  CHECK(o.seconds == 6001);
}

TEST_CASE("what can't go on is named") {
  CHECK(deadlock(2,
                 [](Rank& r) {
                   r.send(1 - r.rank(), 8);
                   r.receive(1 - r.rank(), 8);
                 }) ==
        "nothing can go on; rank 0 waits to send message 1 to rank 1, which never asks for it; rank 1 waits to send "
        "message 1 to rank 0, which never asks for it");
  CHECK(deadlock(3, [](Rank& r) {
          if (r.rank() == 2) r.receive(0, 8);
        }) == "nothing can go on; rank 2 waits for message 1 from rank 0, which never sends it");
  CHECK(deadlock(64, [](Rank& r) { r.send((r.rank() + 1) % 64, 8); }).find("and 60 more") != std::string::npos);
}

TEST_CASE("a schedule that makes no sense is refused") {
  auto run = [](const std::function<void(Rank&)>& program) { simulate(flat(1, 1), 2, program); };
  CHECK_THROWS_WITH(run([](Rank& r) { r.rank() == 0 ? r.send(1, 8) : r.receive(0, 4); }),
                    "message 1 from rank 0 to rank 1 has 8 bytes, and 4 are expected");
  CHECK_THROWS_AS(run([](Rank& r) { r.send(2, 8); }), std::invalid_argument);
  CHECK_THROWS_AS(run([](Rank& r) { r.group_end(); }), std::invalid_argument);
  CHECK_THROWS_AS(run([](Rank& r) { r.group_start(); }), std::invalid_argument);
  CHECK_THROWS_AS(run([](Rank& r) { r.kernel(1, 9); }), std::invalid_argument);
  CHECK_THROWS_AS(run([](Rank& r) { r.send(1 - r.rank(), 1, 8); }), std::invalid_argument);
  CHECK_THROWS_AS(run([](Rank& r) { r.wait(0, 0); }), std::invalid_argument);
  CHECK_THROWS_WITH(run([](Rank&) { throw std::runtime_error("own"); }), "own");
}

TEST_CASE("a ring of 4096 ranks", "[.slow]") {
  const Topology t = built_in("fat_tree");
  const auto begin = std::chrono::steady_clock::now();
  Outcome o = simulate(t, 4096, [](Rank& r) { ring(r, 1 << 28, 4, 1e-13); });
  WARN("seconds here: " << std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  CHECK(o.messages == 2ull * 4096 * 4095);
  WARN("seconds of the model: " << o.seconds);
}
