// A timeline of your batcher: a dozen requests that do not fit into the cache together. A row a request. Run:
//
//   ./ridge cc -I labs/15_serving labs/15_serving/experiments/timeline.cu work/15_serving/batcher.cu -o timeline
//   ./timeline timeline.json
//   ./ridge viz timeline.json          (or ui.perfetto.dev)
#include <cstdio>
#include <map>

#include "playback.hpp"

namespace {

// Seconds of arrival, tokens of the prompt, tokens of the answer.
const std::vector<Arrival> kTrace = {{0.000, 300, 162}, {0.010, 120, 72},  {0.020, 1080, 90}, {0.040, 160, 216},
                                     {0.060, 60, 105},  {0.100, 440, 108}, {0.150, 60, 100},  {0.200, 840, 144},
                                     {0.220, 180, 165}, {0.250, 90, 60},   {0.300, 250, 162}, {0.400, 120, 40}};
constexpr int kPages = pages_of(kLongest);

struct Span {
  const char* what;
  double from, to;  // seconds
};

// A span that goes on where the last one of the same kind ended.
void add(std::vector<Span>& row, const char* what, double from, double to) {
  if (!row.empty() && row.back().what == what && row.back().to == from)
    row.back().to = to;
  else
    row.push_back({what, from, to});
}

bool play(std::map<int, std::vector<Span>>& rows) {
  static const char *const kPrefill = "prefill", *const kDecode = "decode", *const kWaits = "waits",
                           *const kAgain = "evicted";
  Playback play(kTrace, kPages);
  std::vector<int> ended;
  while (!play.ended()) {
    const Plan plan = plan_step(play.server);
    for (int id : plan.evict)
      if (!play.evict(id)) break;
    const std::vector<Request> before = play.server.active;
    const double from = play.server.now;
    const bool ok = play.error.empty() && (plan.chunks.empty() ? play.wait() : play.step(plan.chunks, ended));
    if (!ok) {
      std::fprintf(stderr, "%s\n", play.error.c_str());
      return false;
    }
    for (const Request& r : before) {
      const char* what = r.resident() ? nullptr : r.written > 0 ? kAgain : kWaits;
      for (const Chunk& c : plan.chunks)
        if (c.id == r.id) what = r.lacks() > 1 || r.written == 0 ? kPrefill : kDecode;
      if (what != nullptr)
        add(rows[r.id], what, what == kWaits && rows[r.id].empty() ? r.arrival : from, play.server.now);
    }
  }
  std::printf("%lld steps, %.3f s, %d evictions\n", play.steps(), play.server.now, play.evicted());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::map<int, std::vector<Span>> rows;
  std::FILE* file = argc == 2 ? std::fopen(argv[1], "w") : nullptr;
  if (file == nullptr) {
    std::fprintf(stderr, "usage: timeline OUT.json, a file that can be written\n");
    return 2;
  }
  if (!play(rows)) return 1;
  std::fprintf(
      file,
      "{\"traceEvents\": [\n{\"ph\": \"M\", \"pid\": 0, \"name\": \"process_name\", \"args\": {\"name\": \"requests\"}}");
  for (const auto& [id, row] : rows) {
    std::fprintf(
        file,
        ",\n{\"ph\": \"M\", \"pid\": 0, \"tid\": %d, \"name\": \"thread_name\", \"args\": {\"name\": \"request %d\"}}",
        id, id);
    for (const Span& s : row)
      std::fprintf(
          file,
          ",\n{\"ph\": \"X\", \"pid\": 0, \"tid\": %d, \"name\": \"%s\", \"cat\": \"%s\", \"ts\": %.3f, \"dur\": %.3f}",
          id, s.what, s.what, 1e6 * s.from, 1e6 * (s.to - s.from));
  }
  std::fprintf(file, "\n]}\n");
  return std::fclose(file) == 0 ? 0 : 1;
}
