#include "timeline/reader/loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "timeline/reader/arrange.hpp"

namespace ridge::viz::timeline {
namespace {

EventStore load(const std::vector<std::filesystem::path>& files, const Progress& progress) {
  RawTrace raw;
  TraceParser parser(raw);
  std::error_code ec;
  std::uint64_t total = 0, before = 0;
  for (const auto& f : files) total += std::filesystem::file_size(f, ec);
  for (const auto& f : files) {
    const auto source = open_trace(f);
    parser.parse(*source, f, [&](std::uint64_t used, std::uint64_t, std::uint64_t events) {
      return !progress || progress(before + used, total, events);
    });
    before += source->total();
  }
  parser.finish();
  return arrange(std::move(raw));
}

}  // namespace

EventStore load_traces(const std::vector<std::filesystem::path>& files) { return load(files, {}); }

EventStore load_text(std::string_view text) {
  RawTrace raw;
  TraceParser parser(raw);
  const auto source = memory_trace(text);
  parser.parse(*source, "trace", {});
  parser.finish();
  return arrange(std::move(raw));
}

Loader::Loader(std::vector<std::filesystem::path> files, Then then)
    : files_(std::move(files)), then_(std::move(then)), thread_([this] { run(); }) {}

Loader::~Loader() {
  cancel();
  wait();
}

void Loader::wait() {
  if (thread_.joinable()) thread_.join();
}

void Loader::run() {
  try {
    store_ = std::make_shared<const EventStore>(
        load(files_, [this](std::uint64_t used, std::uint64_t total, std::uint64_t events) {
          fraction_ = total > 0 ? std::min(static_cast<double>(used) / static_cast<double>(total), 1.0) : 0;
          events_ = events;
          return !cancelled_;
        }));
    if (then_) then_(store_);
  } catch (const Cancelled&) {
    error_ = "loading was cancelled";
  } catch (const std::bad_alloc&) {
    error_ =
        fmt::format("{}: memory ran out after {} events\n  try: a shorter recording, or a machine with more memory",
                    files_.front().string(), events_.load());
  } catch (const std::exception& e) {
    error_ = e.what();
  }
  done_.store(true, std::memory_order_release);
}

std::vector<std::pair<std::string, std::string>> arguments_of(const EventStore& s, std::size_t event) {
  constexpr std::size_t kMost = 1 << 20, kShown = 300, kMostMembers = 64;
  std::vector<std::pair<std::string, std::string>> out;
  const std::uint32_t row = s.row_of(event);
  const SourceFile& file = s.files[s.processes[s.lanes[s.rows[row].lane].process].file];
  try {
    const auto source = open_trace(file.path);
    std::string text(kMost + 64, '\0');
    if (!source->skip(s.offset(event))) return {{"args", "the file has changed"}};
    const std::size_t n = source->read(text.data(), kMost);
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(n), text.end(), '\0');
    JsonCursor c(text.data(), text.data() + n);
    const auto members = [&](auto& self, bool inside) -> void {
      c.expect('{', "the file has changed");
      if (c.take('}')) return;
      do {
        const std::string key = decoded(c.key());
        const char first = c.peek();
        if (!inside && key == "args" && first == '{') {
          self(self, true);
          continue;
        }
        const char* from = c.at();
        std::string value;
        if (first == '"')
          value = decoded(c.string());
        else
          c.skip(),
              value = clean_utf8({from, std::min<std::size_t>(static_cast<std::size_t>(c.at() - from), kShown + 4)});
        if (value.size() > kShown) value = clean_utf8(std::string_view(value).substr(0, kShown)) + "...";
        static constexpr std::array kShownElsewhere{"ph", "ts", "dur", "pid", "tid", "name", "cat"};
        if ((inside || std::find(kShownElsewhere.begin(), kShownElsewhere.end(), key) == kShownElsewhere.end()) &&
            out.size() < kMostMembers)
          out.emplace_back(key, value);
      } while (c.take(','));
      c.expect('}', "the file has changed");
    };
    members(members, false);
  } catch (const NeedMore&) {
    out.emplace_back("...", "longer than 1 MiB, or the file has changed");
  } catch (const NotJson& e) {
    out.emplace_back("args", e.what);
  } catch (const TraceError& e) {
    out.emplace_back("args", e.what());
  }
  return out;
}

}  // namespace ridge::viz::timeline
