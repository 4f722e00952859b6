// Findings: what they say of the patterns that students write, in which order, and that the sections they name exist.
#include "learn/findings/findings.hpp"
#include "learn/findings/lesson.hpp"
#include "learn/findings/spans.hpp"
#include "support/catch.hpp"

using namespace ridge;
using namespace ridge::loop;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A task `copy` of lab 01 whose goal misses by its lines.
Result missed(const std::string& metric, double value, double full, const std::vector<LineCount>& lines) {
  Result r;
  r.lab = "01_coalescing";
  TaskResult t;
  t.id = "transpose", t.status = Status::failed, t.max = 35, t.points = 10;
  t.checks = {{"correct", true, ""}, {"goal", false, ""}};
  t.goals = {{"goal", "", metric, "x", "as the judge says it", value, 4, full, 0, 25, false}};
  KernelCount k;
  k.kernel = "kernel", k.launches = 1, k.lines = lines;
  t.kernels = {k};
  t.roofline = Roofline{1, 4096, 4096, "element", {}};
  r.tasks = {t};
  return r;
}

LineCount line(const char* op, std::uint64_t requests, std::uint64_t sectors, std::uint64_t ideal, std::int64_t low,
               std::int64_t high) {
  LineCount l{"transpose.cu", 31, op};
  l.requests = requests, l.sectors = sectors, l.ideal_sectors = ideal, l.lanes = 32 * requests,
  l.bytes = 128 * requests;
  l.lane_step = {low, high};
  return l;
}

Finding only(const Result& r, const std::map<std::string, std::string>& sources = {}) {
  const auto all = findings(find_lab("01"), r, sources);
  REQUIRE(all.size() == 1);
  return all[0];
}

Result failed_gate_of(const std::string& name, const std::string& message, Cause cause = Cause::none) {
  Result r = missed("sectors_over_ideal", 2, 1.02, {});
  r.tasks[0].goals.clear();
  r.tasks[0].checks = {{name, false, message, cause}};
  return r;
}

}  // namespace

TEST_CASE("a strided load is told with its line, its count and the distance of the lanes") {
  const Finding f = only(missed("sectors_over_ideal", 8, 1.02, {line("global_ld", 100, 3200, 400, 4096, 4096)}));
  CHECK(f.where == "transpose.cu:31");
  CHECK(f.what == "asks for 32 sectors per request (ideal 4): neighbouring lanes read addresses 4096 bytes apart");
  CHECK(contains(f.why, "to use 4 of its bytes"));
  CHECK(contains(f.lesson, "README.md#task-3-transpose"));
  CHECK(f.points == 25);
}

TEST_CASE(
    "addresses that the data chooses, requests that begin inside of sectors, and one value for a warp are told apart") {
  CHECK(contains(only(missed("sectors_over_ideal", 8, 1.02, {line("global_ld", 100, 3000, 400, -512, 9000)})).what,
                 "-512 to 9000 bytes apart"));
  CHECK(contains(only(missed("sectors_over_ideal", 1.25, 1.02, {line("global_st", 100, 500, 400, 4, 4)})).what,
                 "do not begin where sectors do"));
  LineCount one = line("global_ld", 100, 100, 100, 0, 0);
  const Finding f = only(missed("sectors_over_ideal", 1.2, 1.02, {one}));
  CHECK(contains(f.what, "reads 4 bytes for a whole warp"));
  CHECK(contains(f.why, "__shfl_sync"));
}

TEST_CASE("data that is read again is told by all its lines") {
  const Finding f = only(missed("sectors_over_ideal", 2, 1.02,
                                {line("global_ld", 400, 1600, 1600, 4, 4), line("global_st", 100, 400, 400, 4, 4)}));
  CHECK(contains(f.what, "more than once"));
  CHECK(contains(f.what, "reads 51 kB"));
  CHECK(contains(f.what, "writes 13 kB"));
}

TEST_CASE("loads of a product are told as loads, and a larger tile as the way") {
  const Finding f = only(missed("load_sectors_over_bound", 2, 1.02,
                                {line("global_ld", 400, 1600, 1600, 4, 4), line("global_st", 100, 400, 400, 4, 4)}));
  CHECK(contains(f.what, "reads 51 kB"));
  CHECK_FALSE(contains(f.what, "writes"));
  CHECK(contains(f.why, "a larger tile"));
}

TEST_CASE("loads of bulk copies alone are told as boxes") {
  const Finding f = only(missed("load_sectors_over_bound", 1.4, 1.02, {line("shared_ld", 400, 0, 0, 4, 4)}));
  CHECK(f.what == "as the judge says it");
  CHECK(contains(f.why, "which boxes each block asks for"));
  CHECK(only(missed("store_sectors_over_bound", 1.4, 1.02, {})).why.empty());
}

TEST_CASE("zeros behind a comparison that a NaN fails are asked for the NaN") {
  const char* message =
      "rows 9 cols 31: first wrong element: out[0] (index 0): expected 0.3, got 0; 8 of 9 are wrong; "
      "all wrong elements are 0";
  for (const Cause cause : {Cause::all_zero, Cause::none}) {
    const Result r = failed_gate_of("correct", message, cause);
    const std::string why =
        only(r, {{"transpose.cu", "int a;\nout[row] = sum > 0 ? all / sum : 0.0f;  // empty\n"}}).why;
    CHECK(contains(why, "transpose.cu:2 gives 0"));
    CHECK(contains(why, "-infinity - (-infinity)"));
    for (const char* other : {"out[row] = all / sum;\n", "// sum > 0 ? a : 0\n", "x = sum > 0 ? a : -INFINITY;\n"})
      CHECK(contains(only(r, {{"transpose.cu", other}}).why, "stored before it was complete"));
    CHECK(contains(only(r, {{"copy.cu", "x = sum > 0 ? a : 0;\n"}}).why, "stored before"));  // another task's
  }
}

TEST_CASE("other bits for the same inputs are asked for the order of a sum") {
  for (const char* message :
       {"dq[head 0][3] has other bits for the second sequence, which has the same inputs: the order of a "
        "sum depends on when blocks run",
        "the same call once more gives other bits: a sum depends on the order in which blocks ran"})
    CHECK(contains(only(failed_gate_of("correct", message)).why, "Atomic additions"));
}

TEST_CASE("a stream is named as the program names it") {
  Timeline t;
  t.stream = 1;
  t.streams[3].name = "stream[1]";
  CHECK(in_stream(t, 0) == "the default stream");
  CHECK(in_stream(t, 1) == "stream 1 (the argument `stream`)");
  CHECK(in_stream(t, 2) == "stream 2");
  CHECK(in_stream(t, 3) == "stream 3 (`stream[1]`)");
}

TEST_CASE("a copy inside the device that nothing hides is asked for its reason") {
  Result r = missed("virtual_time_over_bound", 2, 1.1, {});
  Timeline t;
  t.seconds = 100e-6;
  t.items = {{"", "d2d", 1, 0, 10e-6, 90e-6, 4096}, {"add", "kernel", 1, 0, 0, 10e-6, 0}};
  r.tasks[0].timeline = t;
  CHECK(contains(only(r).why, "Is this copy needed?"));
}

TEST_CASE("a failing case is compared with those before it by what its size can have") {
  const auto advised = [](const char* right, const char* wrong) {
    Result r = failed_gate_of(
        "correct", std::string(wrong) + ": first wrong element: out[0]: expected 1, got 2; 1 of 6 are wrong");
    r.tasks[0].cases = {{right, true, ""}, {wrong, false, ""}};
    return only(r).why;
  };
  CHECK(contains(advised("1 x 1", "2 x 3"), "more elements than one, neighbours, an edge"));
  CHECK(contains(advised("n 1", "n 31"), "more elements than one"));
  CHECK(contains(advised("n 1000", "n 4097"), "a second block or tile"));
  CHECK(contains(advised("3 x 5", "33 x 65"), "a second block or tile"));
}

TEST_CASE("what a message found is advised on") {
  const auto advised = [](const char* name, const char* message, Cause cause = Cause::none) {
    Result r = failed_gate_of(name, message, cause);
    return only(r).why;
  };
  CHECK(contains(advised("correct", "n 9: weights[0] has the bits 3f21: bits are cut off, not rounded"),
                 "rounds towards zero"));
  CHECK(contains(
      advised("correct", "2 ranks: first wrong element: out[0]; 1 of 1 are wrong; and no rank has sent a message"),
      "the ranks exchange nothing"));
  CHECK(contains(advised("correct",
                         "n 1000: first wrong element: sums[0] (index 0): expected 7, got 4; 1 of 1 are wrong; "
                         "`out` is right"),
                 "`out` is right, so the work behind it is done. Which thread writes sums,"));
  CHECK(contains(advised("deadlock", "p 2: rank 0 waits for ever in step 5, backward: it needs"), "Draw the steps"));
  CHECK(contains(advised("memory", "n 1: -1 as an unsigned number", Cause::collective_bounds), "A count below zero"));
  CHECK(contains(advised("memory", "n 1: NCCL: out of bounds", Cause::collective_bounds), "in elements, not in bytes"));
  const std::string nan = "n 9: first wrong element: out[0]: got nan (NaN, ";
  for (const auto& [told, advice] :
       {std::pair{"the judge's fill of outputs: no thread", "No thread wrote this element"},
        std::pair{"the judge's fill of the workspace: read", "The workspace may hold anything"},
        std::pair{"as new memory holds it: shared", "hold anything at first"}})
    CHECK(contains(advised("correct", (nan + told).c_str(), Cause::not_a_number), advice));
}

TEST_CASE("a copy inside the device of a rank is told where it makes much of the lost time") {
  Result r = missed("virtual_time_over_bound", 1.2, 1.15, {});
  Timeline t;
  t.seconds = 48e-6;
  t.items = {{"", "d2d", 1, 0, 0, 3e-6, 4096}, {"ncclSend", "exchange", 1, 0, 3e-6, 48e-6, 4096}};
  r.tasks[0].timeline = t;
  r.tasks[0].ranks.assign(2, t);
  CHECK(contains(only(r).what, "A copy inside the device (4096 bytes) takes 3.0 us in which nothing else runs"));
  CHECK(contains(only(r).why, "Is this copy needed?"));
  for (Timeline& rank : r.tasks[0].ranks) rank.items[0].end = 1e-6;
  CHECK_FALSE(contains(only(r).why, "Is this copy needed?"));
}

TEST_CASE("two passes of one kernel are told as such, though another kernel stores") {
  LineCount first = line("global_ld", 1000, 4000, 4000, 4, 4), second = first,
            result = line("global_st", 10, 40, 40, 4, 4);
  second.line = 9;
  Result r = missed("sectors_over_ideal", 2, 1.02, {first, second});
  KernelCount other = r.tasks[0].kernels[0];
  other.lines = {result};
  r.tasks[0].kernels.push_back(other);
  CHECK(contains(only(r).why, "What a first pass has read"));
  r.tasks[0].kernels[0].lines.pop_back();
  CHECK(contains(only(r).why, "What one stores the next one loads"));
}

TEST_CASE("bank conflicts are told with the pitch and a better one") {
  LineCount l = line("shared_ld", 100, 0, 0, 128, 128);
  l.wavefronts = 3200, l.conflicts = 3100;
  const Finding f = only(missed("conflicts_over_bound", 31, 0.02, {l}));
  CHECK(contains(f.what, "32 wavefronts per request (ideal 1)"));
  CHECK(contains(f.what, "32 words apart, so 32 lanes meet in each bank"));
  CHECK(contains(f.why, "rows of 32 words, a pitch of 33"));
}

TEST_CASE("conflicts of wide requests count the lanes that are served together") {
  LineCount l = line("shared_ld", 100, 0, 0, 128, 128);
  l.bytes = 16 * l.lanes;  // a float4 at a pitch of 32 words: 8 lanes at a time
  l.wavefronts = 3200, l.conflicts = 2800;
  const Finding f = only(missed("conflicts_over_bound", 31, 0.02, {l}));
  CHECK(contains(f.what, "32 words apart, so 8 lanes meet in each bank"));
  CHECK(contains(f.why, "With 16 bytes a lane, 8 lanes are served at a time."));
  CHECK(contains(f.why, "rows of 32 words, a pitch of 36"));
}

TEST_CASE("a pitch keeps the float4 of other lines aligned") {
  LineCount store = line("shared_st", 100, 0, 0, 512, 512), load = line("shared_ld", 100, 0, 0, 16, 16);
  store.wavefronts = 800, store.conflicts = 700;
  load.bytes = 16 * load.lanes;
  const Finding f = only(missed("conflicts_over_bound", 31, 0.02, {store, load}));
  CHECK(contains(f.why, "a pitch of 132 puts each of them into banks of its own, and keeps accesses of 16 bytes"));
}

TEST_CASE("conflicts between rows of a narrow block name its rows, and a wide block has none") {
  LineCount l = line("shared_ld", 100, 0, 0, 4, 4);
  l.wavefronts = 200, l.conflicts = 100;
  Result r = missed("conflicts_over_bound", 1, 0.02, {l});
  r.tasks[0].kernels[0].block = {16, 16, 1};
  CHECK(contains(only(r).why, "rows of 16 threads, so that a warp has 2 of them"));
  r.tasks[0].kernels[0].block = {256, 1, 1};
  CHECK_FALSE(contains(only(r).why, "The block has rows"));
  CHECK(contains(only(r).why, "which two lanes are in one bank"));
}

TEST_CASE("instructions are told with the kernel and its line") {
  Result r = missed("instructions_over_bound", 2, 1.1, {});
  r.tasks[0].kernels[0].kernel = "(anonymous namespace)::round_kernel<4>(float const*)";
  r.tasks[0].kernels[0].counters["ridge__warp_instructions.sum"] = 12345;
  const Finding f = only(r, {{"transpose.cu",
                              "void round_kernel_too() {}\n\ntemplate <int N>\n__global__ void\n"
                              "round_kernel(const float* in) {}\n"}});
  CHECK(f.where == "transpose.cu:5");
  CHECK(contains(f.what, "12345 instructions"));
}

TEST_CASE("data that one kernel stores and another loads is told as that, without a shuffle") {
  Result r = missed("sectors_over_ideal", 2, 1.02, {line("global_ld", 400, 1600, 1600, 4, 4)});
  CHECK_FALSE(contains(only(r).why, "shuffle"));
  KernelCount second = r.tasks[0].kernels[0];
  second.kernel = "second";
  r.tasks[0].kernels.push_back(second);
  CHECK(contains(only(r).why, "2 kernels load and store"));
}

TEST_CASE("barriers of a product on matrix units are not answered with shuffles") {
  LineCount l = line("shared_st", 100, 0, 0, 8, 8);
  Result r = missed("barriers_over_bound", 4, 1.05, {l});
  CHECK(contains(only(r).why, "__syncwarp()"));
  r.tasks[0].kernels[0].counters["ridge__operations_matrix.sum"] = 4096;
  CHECK_FALSE(contains(only(r).why, "shuffle"));
  CHECK(contains(only(r).why, "one barrier a round"));
}

TEST_CASE("divergence names the condition, barriers their lines") {
  const std::map<std::string, std::string> sources = {{"transpose.cu",
                                                       "__global__ void k() {\n  if (threadIdx.x % 2 == 0) {\n    "
                                                       "work();\n    x[0] = 1;\n  }\n  __syncthreads();\n}\n"}};
  LineCount l = line("shared_st", 100, 0, 0, 8, 8);
  l.line = 4, l.lanes = 1600;
  const Finding f = only(missed("idle_lanes_over_bound", 0.4, 0.1, {l}), sources);
  CHECK(f.where == "transpose.cu:2");
  CHECK(contains(f.what, "line 4 runs with 16 of 32 lanes"));
  CHECK(contains(only(missed("barriers_over_bound", 4, 1.05, {l}), sources).what, "waits at line 6"));
}

TEST_CASE("a thread that works alone is told of its kernel") {
  Result r = missed("tail_over_bound", 3, 1, {});
  r.tasks[0].kernels[0].counters["ridge__longest_thread_instructions.max"] = 9000;
  r.tasks[0].kernels[0].kernel = "sum";
  const Finding f = only(r, {{"reduce.cu", "#include <x>\n\n__global__ void sum(float* x) {\n}\n"}});
  CHECK(f.where == "reduce.cu:3");
  CHECK(contains(f.why, "one thread alone"));
}

TEST_CASE("an exposed message is named with its time") {
  Result r = missed("exposed_messages", 0.5, 0.1, {});
  Timeline t;
  t.seconds = 100e-6;
  t.items = {{"all-reduce", "exchange", 2, 0, 10e-6, 60e-6, 4096}, {"backward", "kernel", 1, 0, 0, 20e-6, 0}};
  r.tasks[0].timeline = t;
  const Finding f = only(r);
  CHECK(contains(f.what, "all-reduce"));
  CHECK(contains(f.what, "in stream 2, from 10.0 to 60.0 us"));
}

TEST_CASE("one kernel that takes all of the time has nothing to overlap with") {
  Result r = missed("virtual_time_over_bound", 400, 3, {});
  Timeline t;
  t.seconds = 1e-3;
  t.items = {{"sum_kernel", "kernel", 1, 0, 3e-6, 1e-3, 0, {4, 1, 1}, {64, 1, 1}}};
  r.tasks[0].timeline = t;
  CHECK(contains(only(r).why, "it has 4 blocks of 64 threads. A GPU has over a hundred multiprocessors"));
  r.tasks[0].timeline->items[0].grid = {4096, 1, 1};
  CHECK(contains(only(r).why, "What it loads, stores and computes is what counts"));
  // Narrow loads come first.
  LineCount load{"sum.cu", 23, "global_ld"};
  load.lanes = 320, load.bytes = 640;
  r.tasks[0].kernels[0].kernel = "sum_kernel", r.tasks[0].kernels[0].lines = {load};
  CHECK(only(r).why.rfind("sum.cu:23 loads 2 bytes a thread: a load of 16 bytes would bring 8", 0) == 0);
  r.tasks[0].kernels[0].lines[0].bytes = 1280;
  CHECK_FALSE(contains(only(r).why, "sum.cu:23"));
  // Where copies take the time, it is their order.
  r.tasks[0].timeline->items[0].kind = "h2d";
  CHECK(contains(only(r).why, "in different streams"));
}

TEST_CASE("an all-reduce that nothing hides is told with the kernel behind it") {
  Result r = missed("virtual_time_over_bound", 1.4, 1.2, {});
  Timeline t;
  t.seconds = 100e-6, t.stream = 1;
  t.items = {{"backward", "kernel", 1, 0, 0, 30e-6, 0},
             {"ncclAllReduce", "exchange", 2, 0, 30e-6, 70e-6, 4096},
             {"backward", "kernel", 1, 0, 71e-6, 95e-6, 0}};
  r.tasks[0].ranks = {t, t};
  CHECK(contains(only(r).why,
                 "The next kernel of stream 1 (the argument `stream`) begins at 71.0 us, when this "
                 "all-reduce in stream 2 has ended"));
  r.tasks[0].ranks[0].items[1].stream = r.tasks[0].ranks[1].items[1].stream = 1;
  CHECK(contains(only(r).why, "This all-reduce is in stream 1 (the argument `stream`), as kernels are"));
  // A kernel that begins much later waits for something else.
  for (Timeline& rank : r.tasks[0].ranks) rank.items[1].stream = 2, rank.items[2].start = 90e-6;
  CHECK_FALSE(contains(only(r).why, "this all-reduce"));
}

TEST_CASE("kernels alone are not answered with copies, and many short waits of the host count together") {
  Result r = missed("virtual_time_over_bound", 4, 1.7, {});
  Timeline t;
  t.seconds = 100e-6;
  t.items = {{"refine", "kernel", 1, 0, 0, 40e-6, 0}, {"refine", "kernel", 1, 50e-6, 50e-6, 90e-6, 0}};
  r.tasks[0].timeline = t;
  CHECK_FALSE(contains(only(r).why, "Copies"));
  CHECK(contains(only(r).why, "Kernels can run side by side"));
  r.tasks[0].timeline->items.pop_back();
  CHECK(contains(only(r).why, "look inside it"));
  r.tasks[0].timeline = t;
  for (int i = 0; i < 3; ++i)
    r.tasks[0].timeline->calls.push_back({"cudaStreamSynchronize", 15e-6 * i, 15e-6 * i + 14e-6});
  CHECK(contains(only(r).what, "waits 42.0 us in 3 calls such as cudaStreamSynchronize"));
  CHECK(contains(only(r).why, "All operations are in one stream"));
}

namespace {

// A timeline whose bound is 100 us.
Result in_time(double seconds, const std::vector<Timeline::Item>& items) {
  Result r = missed("virtual_time_over_bound", seconds / 100e-6, 1.1, {});
  Timeline t;
  t.seconds = seconds, t.items = items, t.stream = 1;
  r.tasks[0].timeline = t;
  return r;
}

Timeline::Item copy_in(double start, double end, double bytes, int stream = 1) {
  return {"cudaMemcpy", "h2d", stream, start, start, end, bytes};
}

}  // namespace

TEST_CASE("copies of pageable memory are told as that, with what the link would need") {
  Result r = in_time(320e-6, {copy_in(0, 300e-6, 5.4e6), {"k", "kernel", 1, 3e-6, 300e-6, 310e-6, 0}});
  CHECK_FALSE(contains(only(r).what, "pageable"));
  r.tasks[0].timeline->items[0].pageable = true;
  Finding f = only(r);
  CHECK(contains(f.what, "The copy moves 5400 kB at 18 GB/s, since its memory on the host is pageable"));
  CHECK(contains(f.why, "cudaMallocHost"));
  CHECK_FALSE(contains(f.why, "in different streams"));
  // Chunks do not change this.
  r = in_time(330e-6, {copy_in(0, 150e-6, 2.7e6), copy_in(160e-6, 310e-6, 2.7e6)});
  for (Timeline::Item& i : r.tasks[0].timeline->items) i.pageable = true;
  f = only(r);
  CHECK(contains(f.what, "2 copies move 5400 kB"));
  CHECK(contains(f.what, "each of them"));
}

TEST_CASE("large chunks are told by the share of the first copy, and one copy is to be cut first") {
  const Timeline::Item kernel{"k", "kernel", 2, 3e-6, 80e-6, 85e-6, 0};
  auto out = [](double start, double end, int stream) {
    return Timeline::Item{"cudaMemcpy", "d2h", stream, 4e-6, start, end, 4e6};
  };
  Result r = in_time(250e-6, {copy_in(4e-6, 80e-6, 4e6, 2), kernel, out(85e-6, 160e-6, 2),
                              copy_in(80e-6, 160e-6, 4e6, 3), out(165e-6, 250e-6, 3)});
  Finding f = only(r);
  CHECK(contains(f.what, "The first of 2 copies brings half of the data (4000 kB): until 80.0 us no kernel runs."));
  CHECK(contains(f.why, "more and smaller chunks"));
  CHECK_FALSE(contains(f.why, "different streams"));
  r = in_time(250e-6, {copy_in(0, 100e-6, 5e6), {"k", "kernel", 1, 0, 100e-6, 110e-6, 0}, out(110e-6, 250e-6, 1)});
  CHECK(contains(only(r).what, "One copy brings all of the data"));
  CHECK(contains(only(r).why, "Cut the data into chunks first"));
}

TEST_CASE("a wait in front of a copy from the same memory asks for a second buffer, and is kept") {
  Result r = in_time(250e-6, {});
  Timeline& t = *r.tasks[0].timeline;
  for (int i = 0; i < 5; ++i) {
    t.items.push_back(copy_in(50e-6 * i, 50e-6 * i + 20e-6, 1e6));
    t.items.back().source = 1;
    t.calls.push_back({"cudaEventSynchronize", 50e-6 * i, 50e-6 * i + 45e-6});
  }
  Finding f = only(r);
  CHECK(contains(f.what, "5 copies leave from one buffer of the host"));
  CHECK(contains(f.why, "With a second buffer"));
  CHECK(contains(f.why, "Keep the wait"));
  for (std::size_t i = 0; i < 5; ++i) t.items[i].source = i + 1;  // a buffer each
  CHECK_FALSE(contains(only(r).why, "Keep the wait"));
  CHECK(contains(only(r).why, "Is this wait needed?"));
}

TEST_CASE("what costs little is not mentioned, and the argument `stream` is named") {
  Result r = in_time(300e-6, {{"", "d2d", 1, 0, 2e-6, 4e-6, 384},
                              {"a", "kernel", 1, 0, 4e-6, 150e-6, 0},
                              {"b", "kernel", 1, 0, 150e-6, 300e-6, 0}});
  CHECK_FALSE(contains(only(r).why, "Is this copy needed?"));
  CHECK(contains(only(r).why, "All 2 kernels are in stream 1 (the argument `stream`)"));
  r.tasks[0].timeline->stream = 2;
  CHECK_FALSE(contains(only(r).why, "argument"));
}

TEST_CASE("where the host's calls take the time, launches come first") {
  Result r = in_time(320e-6, {});
  TaskResult& task = r.tasks[0];
  for (int i = 0; i < 100; ++i) {
    task.timeline->items.push_back({"k", "kernel", 1, 3.1e-6 * i, 3.1e-6 * i, 3.1e-6 * i + 2.2e-6, 0});
    task.timeline->calls.push_back({"k", 3.1e-6 * i, 3.1e-6 * i + 3e-6});
  }
  task.timeline->launches = 100;
  CHECK(contains(only(r).what, "The host's calls alone take 300.0 us: it issues 100 operations"));
  CHECK(contains(only(r).why, "recorded as a graph"));
  GoalResult launches = task.goals[0];
  launches.id = "launches", launches.metric = "launches_over_bound", launches.points = 3;
  task.goals.push_back(launches);
  const auto all = findings(find_lab("01"), r, {});
  REQUIRE(all.size() == 2);
  CHECK(all[0].goal == "launches");  // though it is worth less
  CHECK(contains(all[1].why, "See `launches`."));
}

TEST_CASE("a wrong answer is explained by its timeline, where that tells") {
  Result r = in_time(10e-6, {copy_in(0, 5e-6, 100), copy_in(5e-6, 9e-6, 100)});
  r.tasks[0].checks = {{"correct", false, "n 1000: first wrong element"}};
  Timeline& t = *r.tasks[0].timeline;
  CHECK(only(r).why.empty());  // the message says it all
  r.tasks[0].checks[0].message =
      "n 1000: first wrong element: out[3] (index 3): expected 1, got 2; 3 of 1000 are wrong";
  CHECK(contains(only(r).why, "This is the first case: compute its first wrong element by hand"));
  r.tasks[0].cases = {{"n 1", true, ""}, {"n 31", true, ""}, {"n 1000", false, ""}};
  CHECK(contains(only(r).why, "2 cases before it are right (n 1; n 31). What does this one have that they have not"));
  r.tasks[0].cases = {{"1 rank, n 9", true, ""}, {"2 ranks, n 9", false, ""}};
  CHECK(contains(only(r).why, "All cases of 1 rank are right, and this is the first of more."));
  t.items[1].unwaited = true;
  CHECK(contains(only(r).why, "1 copy reads page-locked memory from which an earlier copy was issued"));
  r.tasks[0].checks[0].cause = Cause::imprecise;  // says more
  CHECK_FALSE(contains(only(r).why, "copy"));
  r.tasks[0].checks[0].cause = Cause::not_a_number;
  t.items = {{"k", "kernel", 1, 0, 0, 5e-6, 0}, {"k", "kernel", 1, 0, 5e-6, 9e-6, 0}};
  t.items[0].graph = 1, t.items[1].graph = 2;
  CHECK(contains(only(r).why, "a graph that an earlier call has made"));
  CHECK_FALSE(contains(only(r).why, "enough threads"));
  t.graphs_made = 1;
  CHECK(contains(only(r).why, "each launch gets the same pointers and numbers"));
  t.graphs_changed = 2;
  CHECK(contains(only(r).why, "enough threads"));
}

TEST_CASE("a race with a barrier between its lines is one of the next round") {
  const std::map<std::string, std::string> sources = {
      {"sgemm.cu", "a[i] = x;\n__syncthreads();  // all are here\ny = a[j];\n// __syncthreads()\nz = a[j];\n"}};
  Result r = in_time(10e-6, {});
  auto why = [&](const char* message) {
    r.tasks[0].checks = {{"correct", false, message, Cause::race_shared}};
    return only(r, sources).why;
  };
  CHECK(contains(why("race: load at sgemm.cu:3 against the store at sgemm.cu:1"), "behind the last read"));
  CHECK(contains(why("race: load at sgemm.cu:5 against the store at sgemm.cu:3"), "between the write and the read"));
}

TEST_CASE("wrong uses of TMA, wgmma and mbarriers have advice of their own, also with a barrier between the lines") {
  const std::map<std::string, std::string> sources = {{"hopper.cu", "a();\n__syncthreads();\nb();\n"}};
  Result r = in_time(10e-6, {});
  auto only_why = [&](const char* message, Cause cause) {
    r.tasks[0].checks = {{"correct", false, message, cause}};
    return only(r, sources).why;
  };
  CHECK(contains(only_why("accumulator is touched before wgmma.wait_group (wait) at hopper.cu:3\nagainst hopper.cu:1",
                          Cause::race_shared),
                 "belong to the tensor cores"));
  CHECK(contains(only_why("shared memory is read by TMA or wgmma without a proxy fence", Cause::race_shared),
                 "fence.proxy.async"));
  CHECK(contains(only_why("mbarrier: wrong transaction count at hopper.cu:3", Cause::barrier_deadlock),
                 "the sum of all boxes"));
  CHECK(contains(only_why("hang at an mbarrier at hopper.cu:3", Cause::barrier_deadlock), "for which parity"));
  CHECK(contains(only(r, sources).what, "hang at an mbarrier"));
  // A thread that reads too early, as well as a product; copies of cp.async have no mbarrier.
  const std::string early = "n 4: got nan\nread of shared memory before its copy has arrived (";
  for (const char* who : {"load", "wgmma"})
    CHECK(contains(
        only_why((early + who + ") at hopper.cu:3\nagainst the bulk copy by the same block at hopper.cu:1").c_str(),
                 Cause::race_shared),
        "the mbarrier of its bytes"));
  CHECK(
      contains(only_why((early + "load) at a.cu:3\nagainst the asynchronous copy by the same block at a.cu:1").c_str(),
                        Cause::copy_under_way),
               "waited for its batch"));
  // The words alone are no finding.
  CHECK_FALSE(
      contains(only_why("race on shared memory (load) in kernel x, no wgmma without wgmma.fence", Cause::race_shared),
               "orders these writes"));
  CHECK(contains(only_why("barrier that not all threads reach", Cause::divergent_barrier), "by all threads"));
}

TEST_CASE("an address far outside, or before the beginning, is no matter of the last block") {
  Result r = in_time(10e-6, {});
  auto why = [&](const char* message) {
    r.tasks[0].checks = {{"memory", false, message, Cause::out_of_bounds}};
    return only(r).why;
  };
  CHECK(contains(why("the address is 34356592528 bytes past the end of an allocation of 64 bytes"), "far outside"));
  CHECK(contains(why("the address is 4 bytes past the end of an allocation of 64 bytes"), "multiple of the block"));
  CHECK(contains(why("the address is 8108 bytes past the end of an allocation of 8580 bytes"), "length of a row"));
  CHECK(contains(why("the address is 8 bytes before the beginning of an allocation"), "negative"));
}

TEST_CASE("elements at the end that were never written are asked for the last chunk") {
  Result r = in_time(10e-6, {{"k", "kernel", 1, 0, 0, 5e-6, 0}});
  r.tasks[0].checks = {{"correct", false, "n 1000: got nan", Cause::unwritten_tail}};
  CHECK(contains(only(r).why, "the last elements alone are wrong"));
  CHECK(contains(only(r).why, "does the index reach it?"));
  r.tasks[0].timeline->items.push_back({"cudaMemcpy", "d2h", 1, 0, 5e-6, 9e-6, 100});
  CHECK(contains(only(r).why, "is it copied to the host?"));
}

TEST_CASE("stores to addresses that the data chooses are collected first") {
  const Finding f = only(missed("sectors_over_ideal", 8, 1.02, {line("global_st", 100, 3000, 400, 4, 64)}));
  CHECK(contains(f.why, "in shared memory first"));
}

TEST_CASE("three findings at most, the most points first; a wrong answer stands for all of its task's points") {
  Result r;
  r.lab = "01_coalescing";
  for (auto [id, points] : {std::pair{"copy", 15.0}, {"aos_to_soa", 25.0}, {"transpose", 35.0}, {"gather", 20.0}}) {
    TaskResult t;
    t.id = id, t.status = Status::failed, t.max = points;
    t.checks = {{"correct", false, "n 1: first wrong element\nand more"}};
    r.tasks.push_back(t);
  }
  const auto all = findings(find_lab("01"), r);
  REQUIRE(all.size() == 3);
  CHECK(all[0].task == "transpose");
  CHECK(all[1].task == "aos_to_soa");
  CHECK(all[2].task == "gather");
  CHECK(all[0].points == 35);
  CHECK(findings(find_lab("01"), Result{}).empty());
}

TEST_CASE("a goal that others wait for is worth what they are worth too") {
  Result r = missed("sectors_over_ideal", 1.3, 1.02, {line("global_ld", 100, 3200, 400, 4096, 4096)});
  TaskResult& t = r.tasks[0];
  t.checks[1].name = t.goals[0].id = "sectors", t.goals[0].points = 14.5, t.goals[0].max = 15;
  GoalResult waits = t.goals[0];
  waits.id = "conflicts", waits.value.reset(), waits.points = 0, waits.max = 10;  // `after = "sectors"` in lab 01
  t.goals.push_back(waits);
  const auto all = findings(find_lab("01"), r, {});
  REQUIRE(all.size() == 1);
  CHECK(contains(findings_text(all, false, false),
                 "transpose, sectors (0.5 points to gain, and 10 points that wait for it)"));
  t.goals[1].met = true, t.goals[1].points = 10;
  CHECK(contains(findings_text(findings(find_lab("01"), r, {}), false, false), "(0.5 points to gain)"));
}

TEST_CASE("a failed gate is told whole where no report above tells it") {
  Result r = missed("sectors_over_ideal", 8, 1.02, {});
  r.tasks[0].checks = {
      {"memory", false, "race on shared memory at transpose.cu:9\n    against the store at transpose.cu:7"}};
  const auto all = findings(find_lab("01"), r, {});
  REQUIRE(all.size() == 1);
  CHECK(all[0].where == "transpose.cu:9");
  CHECK(contains(findings_text(all, false, true), "against the store at transpose.cu:7"));
  CHECK_FALSE(contains(findings_text(all, false, false), "against"));
}

TEST_CASE("every task and goal of every lab has a section of its lesson") {
  for (const Lab& lab : load_labs())
    for (const Task& t : lab.tasks) {
      INFO(lab.name << " " << t.id);
      CHECK_FALSE(lesson_section(lab, t).anchor.empty());
      for (const Goal& g : t.goals) CHECK_FALSE(lesson_section(lab, t, g.id).anchor.empty());
    }
}

TEST_CASE("a gate that failed is named, and what it usually comes from is said") {
  auto of = [](const char* name, const char* message, Cause cause = Cause::none) {
    Result r = missed("sectors_over_ideal", 8, 1.02, {});
    r.tasks[0].checks = {{name, false, message, cause}};
    r.tasks[0].points = 0;
    const auto all = findings(find_lab("01"), r, {});
    REQUIRE(all.size() == 1);
    return std::pair(all[0], findings_text(all, false, false));
  };
  const auto [traffic, text] = of("traffic", "4 ranks, n 2: 32 bytes pass between the nodes, and 16 would do");
  CHECK(contains(text, "transpose: messages are not those that the task asks for (35 points to gain)"));
  CHECK(contains(traffic.why, "who sends how much to whom"));
  CHECK(contains(of("agree", "ranks have different answers").second, "transpose: ranks have different answers"));
  CHECK(contains(of("mismatch", "m", Cause::collective_mismatch).first.why, "the same count"));
  CHECK(contains(of("mismatch", "m", Cause::message_mismatch).first.why, "pair up in the order of the calls"));
  CHECK(contains(of("memory", "m", Cause::request_leak).second, "transpose: it does not wait for its messages"));
  CHECK(contains(of("memory", "m", Cause::group_order).first.why, "have no order"));
  CHECK(contains(of("correct", "m", Cause::stale_state).first.why, "static variables"));
  CHECK(contains(of("memory", "m", Cause::inactive_lane).first.why, "give it a width"));
  CHECK(of("memory", "race on shared memory").first.why == of("memory", "m").first.why);  // words decide nothing
  CHECK(contains(of("deadlock", "every rank waits").second, "transpose: ranks wait for each other"));
  CHECK(contains(of("time-limit", "took more than 5 s").second, "transpose: it does not end in time"));
  CHECK(contains(of("time-limit", "m", Cause::timeout).first.why, "Which loop's condition"));
  CHECK_FALSE(contains(of("correct", "n 1: got nan", Cause::not_a_number).first.why, "rank"));
  CHECK(contains(of("correct", "2 ranks, n 1: got nan", Cause::not_a_number).first.why, "another rank"));
  const auto [rounded, said] = of("correct", "m", Cause::imprecise);
  CHECK(contains(said, "transpose: the answer is wrong"));
  CHECK(contains(rounded.why, "narrower type"));
}

TEST_CASE("a goal that could not be measured is found by its reason, where no other one can") {
  Result r = missed("sectors_over_ideal", 8, 1.02, {});
  r.tasks[0].goals[0].value.reset();
  r.tasks[0].goals[0].note = "the kernels moved only 0.00 of the data";
  CHECK(only(r).what == "the kernels moved only 0.00 of the data");
  CHECK(only(r).goal == "goal");
  GoalResult measured = missed("sectors_over_ideal", 8, 1.02, {}).tasks[0].goals[0];
  measured.id = "first";
  r.tasks[0].goals.insert(r.tasks[0].goals.begin(), measured);
  CHECK(only(r).goal == "first");
}
