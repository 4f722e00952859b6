// Lab 11: what its check counts is what the emulator counts, its occupancy is the emulator's, and the judge alone counts the
// measurements of `autotune`.
#include <cmath>
#include <random>

#include "device/device_profile.hpp"
#include "grader/graded.hpp"
#include "labs/11_profiling/check/counted.hpp"
#include "labs/11_profiling/check/gemm_times.hpp"
#include "launch/time_model.hpp"
#include "support/catch.hpp"

namespace fs = std::filesystem;
using namespace ridge::test;
namespace profiling = ridge::lab::profiling;

namespace {

std::uint64_t seed() {
  const char* text = std::getenv("RIDGE_COURSE_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : std::random_device{}();
}

// A submission whose autotune.cu has this body: what it asks is up to it.
Graded searched(const Folder& home, const std::string& body, const std::string& mode = "check") {
  const fs::path to = home / "submission";
  fs::create_directories(to);
  for (const auto& file : fs::directory_iterator(fs::path(repository()) / "solutions/11_profiling"))
    fs::copy(file.path(), to / file.path().filename(), fs::copy_options::overwrite_existing);
  write_file(to / "autotune.cu",
             "#include <algorithm>\n#include <cmath>\n\n#include <thread>\n#include <vector>\n#include "
             "\"search.hpp\"\nint autotune(const Shape& shape, const Measure& measure) {\n" +
                 body + "\n}\n");
  const std::string file = home / "result.json";
  fs::remove(file);
  Graded g{
      run_ridge(home, {mode, "11", "--backend", "cpu", "--task", "autotune", "--json", file, "--submission", to}, 100),
      nullptr};
  if (fs::exists(file)) g.result = json::parse(read_file(file));
  return g;
}

}  // namespace

TEST_CASE("the six kernels: what the check counts is what the emulator counts") {
  const std::uint64_t drawn = seed();
  INFO("RIDGE_COURSE_SEED=" << drawn);
  std::mt19937_64 random(drawn);
  auto integer = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const int blocks = integer(20, 90), threads = 32 * integer(1, 8);
  const int a[6] = {integer(1, 12), integer(8, 40), integer(0, 8), integer(1, 8), integer(1, 4), 32 * integer(1, 32)};
  Folder home;
  const fs::path lab = fs::path(repository()) / "labs/11_profiling";
  const std::string program = home / "six", counters = home / "counters.json";
  Run built = run_ridge(home, {"cc", "-I", lab, lab / "experiments/six.cu", "-o", program});
  INFO(built.out + built.err);
  REQUIRE(built.code == 0);
  auto env = environment(home);
  env["RIDGE_COUNTERS"] = counters;
  std::vector<std::string> arguments = {program, std::to_string(blocks), std::to_string(threads)};
  for (const int value : a) arguments.push_back(std::to_string(value));
  arguments.emplace_back();
  for (int k = 0; k < 6; ++k) {
    arguments.back() = std::to_string(k);  // each alone: another's data in L2 would count
    REQUIRE(run(arguments, env, 60).code == 0);
    const json launches = json::parse(read_file(counters))["launches"];
    REQUIRE(launches.size() == 1);
    const json& launch = launches[0];
    const auto kernel = static_cast<Kernel>(k);
    const Launch l{kernel, blocks, kernel == Kernel::transpose ? 256 : threads, 32, 0, a[k]};
    const profiling::Counted expected = profiling::count(l);
    INFO("kernel " << k << ", " << blocks << " blocks x " << l.threads << ", a " << l.a << "\n" << launch.dump(1));
    auto counter = [&](const char* name) { return launch["counters"].value(name, 0.0); };
    CHECK(counter("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") == expected.load_sectors);
    CHECK(counter("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum") == expected.store_sectors);
    CHECK(counter("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum") +
              counter("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum") ==
          expected.shared_wavefronts);
    CHECK(counter("ridge__bytes_l2.sum") == expected.l2_bytes());
    CHECK(counter("ridge__bytes_dram.sum") == expected.memory_bytes);
  }
}

TEST_CASE("occupancy: the check's rule for configurations is the emulator's") {
  std::string error;
  ridge::simt::DeviceProfile profile;
  REQUIRE(ridge::simt::parse_device_profile(read_file(fs::path(repository()) / "runtime/ceilings/profiles/h200.toml"),
                                            profile, error));
  for (int i = 0; i < kConfigs; ++i) {
    const Config c = config_of(i);
    const int mine = profiling::resident_blocks(c);
    INFO("configuration " << i);
    if (mine > 0)
      CHECK(mine == static_cast<int>(ridge::simt::theoretical_occupancy(profile, static_cast<unsigned>(threads_of(c)),
                                                                        static_cast<std::size_t>(shared_of(c)),
                                                                        static_cast<unsigned>(registers_of(c)))
                                         .blocks_per_sm));
  }
}

TEST_CASE("autotune: the judge counts the measurements, whoever makes them") {
  Folder home;
  // 20 is within 12, and no search; the point is what is refused.
  Graded g = searched(home, "for (int i = 0; i < 12; ++i) measure(20); return 20;");
  INFO(g.run.out + g.run.err);
  CHECK(first_failed(g.task("autotune"))["name"] != "questions");
  g = searched(home, "for (int i = 0; i < 13; ++i) measure(20); return 20;");
  INFO(g.run.out + g.run.err);
  CHECK(first_failed(g.task("autotune"))["name"] == "questions");
  CHECK(std::string(first_failed(g.task("autotune"))["message"]).find("13 questions in 1 call") != std::string::npos);
}

TEST_CASE("autotune: threads do not measure more than one, and copies of `measure` do not, either") {
  Folder home;
  const Graded g =
      searched(home,
               "std::vector<std::thread> all;\n"
               "for (int t = 0; t < 4; ++t) all.emplace_back([copy = measure] { for (int i = 0; i < 5; ++i) "
               "copy(20); });\nfor (auto& t : all) t.join();\nreturn 20;");
  INFO(g.run.out + g.run.err);
  CHECK(first_failed(g.task("autotune"))["name"] == "questions");
  CHECK(std::string(first_failed(g.task("autotune"))["message"]).find("20 questions in 1 call") != std::string::npos);
}

TEST_CASE("autotune: what cannot run is not measured") {
  Folder home;
  for (const char* body : {"measure(4); return 20;", "measure(-1); return 20;", "measure(1 << 30); return 20;"}) {
    const Graded g = searched(home, body);
    INFO(body << "\n" << g.run.out + g.run.err);
    CHECK(first_failed(g.task("autotune"))["name"] == "questions");
    CHECK(std::string(first_failed(g.task("autotune"))["message"]).find("cannot run") != std::string::npos);
  }
}

TEST_CASE("autotune: the judge answers entry.cu alone") {
  Folder home;
  const Graded g = searched(home,
                            "return 20; }\nextern \"C\" bool ridge_ask(const long long*, double*);\nint other() { "
                            "double a[4]; long long q[8] = {20}; return ridge_ask(q, a);");
  INFO(g.run.out + g.run.err);
  CHECK(g.run.code == 4);
}
