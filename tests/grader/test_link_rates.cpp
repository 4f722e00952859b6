// What the link check says of rates that were measured, and of links that never answered.
#include "grader/machine/link_rates.hpp"
#include "grader/worker/link_check.hpp"
#include "support/catch.hpp"

using namespace ridge;

namespace {

// `n` GPUs at 0000:00:00.0, 0000:01:00.0, ... on PCI Express 5 x16, joined by 18 NVLinks to switches.
Topology machine(int n) {
  Topology t;
  for (int i = 0; i < n; ++i) {
    Gpu g;
    g.pci.address = "0000:0" + std::to_string(i) + ":00.0";
    g.pci.link = {32, 32, 16, 16};
    t.gpus.push_back(g);
    t.nvml.gpus.push_back({g.pci.address, "GPU", std::vector<NvLink>(18, {true, NvLink::End::nvswitch, "", 26})});
  }
  const auto all = static_cast<std::size_t>(n);
  t.nvml.level = t.nvml.peer = std::vector(all, std::vector<int>(all, -1));
  return t;
}
std::string gpu(int i) { return "0000:0" + std::to_string(i) + ":00.0"; }

std::vector<std::string> with_mark(const Facts& facts, Mark mark) {
  std::vector<std::string> all;
  for (const Fact& f : facts)
    if (f.mark == mark) all.push_back(f.what + ": " + f.detail);
  return all;
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("links that are equally fast") {
  LinkRun run;
  for (int i = 0; i < 4; ++i) {
    run.rates.push_back({"host", gpu(i), (55 + i) * 1e9, ""});
    run.rates.push_back({gpu(i), "host", (54 - i) * 1e9, ""});
    run.rates.push_back({gpu(i), gpu((i + 1) % 4), (370 + i) * 1e9, ""});
  }
  const Facts facts = link_facts(run, machine(4));
  CHECK(with_mark(facts, Mark::no).empty());
  const auto kinds = with_mark(facts, Mark::yes);
  REQUIRE(kinds.size() == 3);
  CHECK(kinds[0] == "GPU to GPU NV18: 370.0 to 373.0 GB/s, median 371.5, 4 links");
}

TEST_CASE("a link slower than 0.8 of its kind is named") {
  LinkRun run;
  for (int i = 0; i < 4; ++i) run.rates.push_back({"host", gpu(i), i == 2 ? 43e9 : 55e9, ""});
  for (int i = 0; i < 4; ++i) run.rates.push_back({gpu(i), "host", i == 2 ? 45e9 : 55e9, ""});  // 0.82: fine
  const auto wrong = with_mark(link_facts(run, machine(4)), Mark::no);
  REQUIRE(wrong.size() == 1);
  CHECK(has(wrong[0], "host to GPU 2: suspect: 43.0 GB/s, 0.78 of the median"));
  CHECK(has(wrong[0], "dmesg"));
}

TEST_CASE("links of different kinds are not compared") {
  Topology t = machine(3);
  for (NvLink& l : t.nvml.gpus[2].links) l.active = false;  // joined over PCI Express only
  t.nvml.level[0][2] = t.nvml.level[1][2] = 50;
  LinkRun run;
  run.rates = {{gpu(0), gpu(1), 370e9, ""}, {gpu(0), gpu(2), 20e9, ""}, {gpu(1), gpu(2), 21e9, ""}};
  CHECK(with_mark(link_facts(run, t), Mark::no).empty());
  CHECK(with_mark(link_facts(run, t), Mark::yes).size() == 2);
}

TEST_CASE("a single link is held against its lanes") {
  LinkRun run;
  run.rates = {{"host", gpu(0), 55e9, ""}};
  CHECK(with_mark(link_facts(run, machine(1)), Mark::no).empty());
  run.rates[0].bytes_per_s = 27e9;  // half of the lanes
  const auto wrong = with_mark(link_facts(run, machine(1)), Mark::no);
  REQUIRE(wrong.size() == 1);
  CHECK(has(wrong[0], "0.43 of the 63.0 GB/s that its PCIe lanes carry"));
}

TEST_CASE("a link that fails, hangs or is not reached") {
  const std::string begun = "begin host " + gpu(0) + "\nrate host " + gpu(0) + " 55e9\n";
  LinkRun run = parse_link_run(begun + "begin " + gpu(0) + " host\n", false);
  auto wrong = with_mark(link_facts(run, machine(2)), Mark::no);
  REQUIRE(wrong.size() == 1);
  CHECK(has(wrong[0], "GPU 0 to host: suspect: its copies did not end"));

  run = parse_link_run(begun + "begin " + gpu(0) + " host\n", true);
  wrong = with_mark(link_facts(run, machine(2)), Mark::no);
  REQUIRE(wrong.size() == 1);
  CHECK(has(wrong[0], "GPU 0 to host: failed: the measurement crashed"));

  run = parse_link_run(begun + "begin host " + gpu(1) + "\nfailed host " + gpu(1) + " CUDA_ERROR_UNKNOWN\nleft 0\n",
                       true);
  wrong = with_mark(link_facts(run, machine(2)), Mark::no);
  REQUIRE(wrong.size() == 1);
  CHECK(has(wrong[0], "host to GPU 1: failed: CUDA_ERROR_UNKNOWN"));

  run = parse_link_run(begun + "left 12\n", true);
  CHECK(with_mark(link_facts(run, machine(2)), Mark::no).empty());
  REQUIRE(with_mark(link_facts(run, machine(2)), Mark::note).size() == 1);
  CHECK(has(with_mark(link_facts(run, machine(2)), Mark::note)[0], "12 links"));
}

TEST_CASE("no measurement is no pass") {
  auto only = [](const LinkRun& run) {
    const Facts facts = link_facts(run, Topology());
    REQUIRE(facts.size() == 1);
    return facts[0];
  };
  CHECK(only(parse_link_run("none no GPU here\n", true)).mark == Mark::none);
  CHECK(only(parse_link_run("none no GPU here\n", true)).detail == "skipped: no GPU here");
  CHECK(only(parse_link_run("", true)).mark == Mark::no);
  CHECK(has(only(parse_link_run("", true)).detail, "crashed"));
  CHECK(only(parse_link_run("", false)).mark == Mark::no);
  CHECK(has(only(parse_link_run("", false)).detail, "did not answer"));
}

TEST_CASE("what the ranks' run says") {
  RanksRun run;
  run.wanted = 2;
  run.mpi.exit_code = 0;
  for (unsigned i = 0; i < 2; ++i) {
    agent::Report r;
    r.rank = i;
    r.ok = 1;
    r.round_trip_s = (30 + i) * 1e-6;
    r.barrier_s = (2 + i) * 1e-6;
    run.reports.push_back(r);
  }
  CHECK(rank_fact(run).mark == Mark::yes);
  CHECK(rank_fact(run).detail == "2: round trip to the worker 30.0 to 31.0 us, barrier 2.0 to 3.0 us");
  run.reports[1].ok = 0;
  CHECK(rank_fact(run).mark == Mark::no);
  CHECK(has(rank_fact(run).detail, "rank 1: its worker does not answer"));
  run.reports.pop_back();
  CHECK(has(rank_fact(run).detail, "1 of 2 reported"));
  run.mpi.timed_out = true;
  CHECK(rank_fact(run).mark == Mark::note);
}
