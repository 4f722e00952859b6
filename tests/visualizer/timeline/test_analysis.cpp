// Overlap, rings, pipelines, statistics: against brute force and against cases whose answer is known.
#include <fmt/format.h>

#include <random>
#include <string>

#include "support/catch.hpp"
#include "timeline/analysis/collective.hpp"
#include "timeline/analysis/overlap.hpp"
#include "timeline/analysis/pipeline.hpp"
#include "timeline/analysis/statistics.hpp"
#include "timeline/reader/loader.hpp"

using namespace ridge::viz::timeline;

TEST_CASE("exposed communication is what brute force finds") {
  std::mt19937 random(21);
  for (int round = 0; round < 80; ++round) {
    bool compute[2][400] = {}, transfer[2][400] = {};
    std::string text = "[";
    for (int i = 0; i < 60; ++i) {
      const int rank = static_cast<int>(random() % 2), from = static_cast<int>(random() % 380),
                length = static_cast<int>(random() % 20);
      const bool sends = random() % 3 == 0;
      for (int t = from; t < from + length; ++t) (sends ? transfer : compute)[rank][t] = true;
      text += fmt::format("{}{{\"ph\":\"X\",\"name\":\"n\",\"cat\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{}}}",
                          i ? "," : "", sends ? "exchange" : "kernel", rank, random() % 3, from, length);
    }
    const auto s = load_text(text + "]");
    for (const RankOverlap& r : overlap_of(s)) {
      Time exposed = 0, busy = 0, transfers = 0;
      for (int t = 0; t < 400; ++t) {
        exposed += transfer[r.rank][t] && !compute[r.rank][t] ? 1'000'000 : 0;
        busy += compute[r.rank][t] ? 1'000'000 : 0;
        transfers += transfer[r.rank][t] ? 1'000'000 : 0;
      }
      CHECK(r.uncovered == exposed);
      CHECK(r.busy == busy);
      CHECK(r.transfers == transfers);
    }
  }
}

TEST_CASE("kinds of our own events and PyTorch's") {
  CHECK(kind_of("kernel", "gemm_kernel") == Kind::compute);
  CHECK(kind_of("kernel", "ncclDevKernel_AllReduce_Sum_f32") == Kind::communication);
  CHECK(kind_of("nccl kernel", "ncclDevKernel_AllReduce_Sum_f32") == Kind::communication);
  CHECK(kind_of("exchange", "ncclSend, 1 KiB") == Kind::communication);
  CHECK(kind_of("gpu_memcpy", "Memcpy HtoD") == Kind::copy);
  CHECK(kind_of("cuda_runtime", "cudaLaunchKernel") == Kind::host);
  CHECK(kind_of("graph", "copy to device, 4 MiB") == Kind::copy);
  CHECK(kind_of("", "x") == Kind::other);
}

TEST_CASE("alpha and beta are the emulator's where the trace tells them, also with sends of one size") {
  const std::string sends = R"([
    {"ph":"X","name":"send","cat":"exchange","pid":0,"tid":1,"ts":0,"dur":25,"args":{"bytes":1000}},
    {"ph":"X","name":"send","cat":"exchange","pid":1,"tid":1,"ts":0,"dur":25,"args":{"bytes":1000}}])";
  const auto fitted = collective_of(load_text("{\"traceEvents\":" + sends + "}"));
  REQUIRE(fitted);
  CHECK(fitted->model->alpha == 0);
  const auto known = collective_of(
      load_text("{\"otherData\":{\"link_latency_us\":5,\"link_bytes_per_second\":5e7},\"traceEvents\":" + sends + "}"));
  REQUIRE(known);
  CHECK(known->model->alpha == Approx(5e-6));
  CHECK(known->model->beta == Approx(5e7));
  CHECK(known->model->of(1000) == Approx(25e-6));
}

TEST_CASE("where links differ, the model times each send by its own link") {
  const auto send = [](int rank, int at, int us, int bytes, double latency, double rate) {
    return fmt::format(
        R"({{"ph":"X","name":"send","cat":"exchange","pid":{},"tid":1,"ts":{},"dur":{},"args":{{"bytes":{},)"
        R"("link_latency_us":{},"link_bytes_per_second":{}}}}})",
        rank, at, us, bytes, latency, rate);
  };
  // The small one goes the slow way: one line through both would have a negative slope.
  const std::string sends = send(0, 0, 12, 4000, 2, 1e9) + "," + send(0, 12, 60, 1000, 20, 1e8) + "," +
                            send(1, 0, 12, 4000, 2, 1e9) + "," + send(1, 12, 60, 1000, 20, 1e8);
  const auto c = collective_of(load_text("{\"traceEvents\":[" + sends + "]}"));
  REQUIRE(c);
  CHECK_FALSE(c->model);
  REQUIRE(c->links.size() == 2);
  CHECK(c->links[0].beta == Approx(1e9));
  CHECK(c->links[1].alpha == Approx(20e-6));
  Time last = 0;
  for (const RingStep& s : c->ideal) last = std::max(last, s.end);
  CHECK(seconds(last) == Approx(2e-6 + 4e-6 + 20e-6 + 10e-6));
  // Links of one kind are one model.
  const auto one = collective_of(
      load_text("{\"traceEvents\":[" + send(0, 0, 12, 4000, 2, 1e9) + "," + send(1, 0, 12, 4000, 2, 1e9) + "]}"));
  REQUIRE(one->model);
  CHECK(one->model->alpha == Approx(2e-6));
  CHECK(one->links.empty());
}

TEST_CASE("alpha and beta come back from sends that keep to them, also where some wait") {
  std::vector<std::pair<double, double>> sends;
  const double alpha = 5e-6, beta = 20e9;
  for (const double bytes : {1e3, 1e5, 1e6, 1e7}) {
    sends.emplace_back(bytes, alpha + bytes / beta);
    sends.emplace_back(bytes, 3 * (alpha + bytes / beta));  // waited
  }
  const auto model = fit_alpha_beta(sends);
  REQUIRE(model);
  CHECK(model->alpha == Approx(alpha).epsilon(1e-6));
  CHECK(model->beta == Approx(beta).epsilon(1e-6));
  const auto one = fit_alpha_beta({{1000, 2e-6}, {1000, 1e-6}});
  REQUIRE(one);
  CHECK(one->alpha == 0);
  CHECK(one->beta == Approx(1e9));
  CHECK(one->source.find("one size") != std::string::npos);
  CHECK_FALSE(fit_alpha_beta({}));
}

TEST_CASE("a ring's chunks follow from its order, and from its args where they say") {
  std::string text = "[";
  for (int rank = 0; rank < 3; ++rank)
    for (int k = 0; k < 4; ++k)
      text += fmt::format(
          "{}{{\"ph\":\"X\",\"name\":\"ncclSend+Recv\",\"cat\":\"exchange\",\"pid\":{},\"tid\":1,\"ts\":{},\"dur\":10,"
          "\"args\":{{\"bytes\":1000,\"to\":\"{} (1000 B)\"}}}}",
          rank + k ? "," : "", rank, 20 * k, (rank + 1) % 3);
  const auto c = collective_of(load_text(text + "]"));
  REQUIRE(c);
  REQUIRE(c->steps.size() == 12);
  CHECK(c->most_steps == 4);
  CHECK(!c->note.empty());
  const int chunks_of_rank_0[] = {0, 2, 1, 0};  // r - s, then r + 1 - s
  for (int k = 0; k < 4; ++k) {
    CHECK(c->steps[static_cast<std::size_t>(k)].chunk == chunks_of_rank_0[k]);
    CHECK(c->steps[static_cast<std::size_t>(k)].bandwidth() == Approx(1e8));
    CHECK(c->steps[static_cast<std::size_t>(k)].peer == 1);
  }
  REQUIRE(c->model);
  CHECK(c->ideal.back().end - c->ideal[8].begin == 40'000'000);  // four steps of 10 us without gaps
}

namespace {

// GPipe on p ranks, m micro-batches, forwards of f and backwards of b us, transfers for free; `slack` after each step.
std::string gpipe(int p, int m, int f, int b, bool args, int slack = 0) {
  std::string text = "[";
  const auto add = [&](int rank, bool forward, int k, int begin) {
    text += fmt::format(
        "{}{{\"ph\":\"X\",\"name\":\"{}\",\"cat\":\"kernel\",\"pid\":{},\"tid\":1,\"ts\":{},\"dur\":{}{}}}",
        text.size() > 1 ? "," : "", args ? "gemm" : fmt::format("{} {}", forward ? "forward" : "backward", k), rank,
        begin, forward ? f : b,
        args ? fmt::format(",\"args\":{{\"range\":\"{} {}\"}}", forward ? "forward" : "backward", k) : "");
  };
  for (int r = 0; r < p; ++r)
    for (int k = 0; k < m; ++k) {
      add(r, true, k, (r + k) * (f + slack));
      add(r, false, k, (m + p - 1) * (f + slack) + (p - 1 - r + k) * (b + slack));
    }
  return text + "]";
}

}  // namespace

TEST_CASE("GPipe's bubble is (p - 1) / (m + p - 1), measured and ideal") {
  for (const bool args : {false, true})
    for (const auto& [p, m] : {std::pair{2, 2}, std::pair{4, 8}, std::pair{8, 3}}) {
      const auto pipe = pipeline_of(load_text(gpipe(p, m, 10, 20, args)));
      REQUIRE(pipe);
      CHECK(pipe->micro_batches == m);
      CHECK(pipe->steps.size() == static_cast<std::size_t>(2 * p * m));
      const double expected = (p - 1.0) / (m + p - 1.0);
      CHECK(pipe->bubble == Approx(expected).epsilon(1e-9));
      CHECK(pipe->ideal_bubble == Approx(expected).epsilon(1e-9));
    }
  // With idle time after each step the ideal does without.
  const auto slow = pipeline_of(load_text(gpipe(4, 8, 10, 20, true, 5)));
  REQUIRE(slow);
  CHECK(slow->ideal_bubble == Approx(3.0 / 11).epsilon(1e-9));
  CHECK(slow->bubble > 0.4);
  CHECK(slow->ideal_whole == 330'000'000);
}

TEST_CASE("steps that wait for each other have no ideal schedule, and a note") {
  const auto pipe = pipeline_of(load_text(R"([
    {"ph":"X","name":"forward 0","cat":"kernel","pid":0,"ts":10,"dur":1},{"ph":"X","name":"backward 0","cat":"kernel","pid":0,"ts":0,"dur":1},
    {"ph":"X","name":"forward 0","cat":"kernel","pid":1,"ts":0,"dur":1},{"ph":"X","name":"backward 0","cat":"kernel","pid":1,"ts":5,"dur":1}])"));
  REQUIRE(pipe);
  CHECK(pipe->ideal.empty());
  CHECK(!pipe->note.empty());
  CHECK_FALSE(pipeline_of(load_text("[{\"ph\":\"X\",\"name\":\"forward 0\",\"ts\":1,\"dur\":1}]")));
}

TEST_CASE("a range's statistics count the part that is inside") {
  const auto s = load_text(
      R"([{"ph":"X","name":"a","cat":"kernel","tid":1,"ts":0,"dur":10},{"ph":"X","name":"a","cat":"kernel","tid":1,"ts":20,"dur":10},
    {"ph":"X","name":"b","cat":"exchange","tid":2,"ts":0,"dur":40,"args":{"bytes":4000}}])");
  const auto r = statistics_of(s, 5'000'000, 25'000'000);
  CHECK(r.events == 3);
  REQUIRE(r.names.size() == 2);
  CHECK(r.names[0].name == "b");
  CHECK(r.names[0].busy == 20'000'000);
  CHECK(r.names[1].count == 2);
  CHECK(r.names[1].busy == 10'000'000);
  CHECK(r.bytes == 2000);
  CHECK(r.bandwidth() == Approx(1e8));
  const auto found = search(s, "A");
  CHECK(found.count == 2);
  CHECK(search(s, "zzz").count == 0);
}
