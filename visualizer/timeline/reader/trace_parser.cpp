#include "timeline/reader/trace_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace ridge::viz::timeline {
namespace {

constexpr std::size_t kPiece = 4 << 20, kPadding = 64, kLargestValue = std::size_t{256} << 20;
constexpr std::size_t kMostLanes = 100000, kMostAbout = 64, kMostCounters = 10000, kMostProcesses = 100000;
constexpr std::uint64_t kMostEvents = 400'000'000;
constexpr std::int64_t kFarthest = 4'000'000'000'000;  // us: 46 days, so that sums of two fit
constexpr Time kOpen = -1;                             // the duration of a B until its E is read

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  a = (a ^ (b + 0x9E3779B97F4A7C15 + (a << 6) + (a >> 2))) * 0xBF58476D1CE4E5B9;
  return a ^ (a >> 31);
}

// Bytes of an element by PyTorch's type name; 0 for an unknown one.
double element_bytes(std::string_view type) {
  if (type.find("64") != type.npos || type == "Double" || type == "Long") return 8;
  if (type.find("16") != type.npos || type == "Half" || type == "Short") return 2;
  if (type == "Float" || type == "Int" || type.find("32") != type.npos) return 4;
  if (type.find("8") != type.npos || type == "Byte" || type == "Char" || type == "Bool") return 1;
  return 0;
}

// Reads a pipeline's step such as "forward 3" or "backward 3 chunk 1". Other texts change nothing.
void read_range(std::string_view text, Detail& d) {
  const bool forward = text.starts_with("forward "), backward = text.starts_with("backward ");
  if (!forward && !backward) return;
  text.remove_prefix(forward ? 8 : 9);
  std::int16_t micro_batch = -1, chunk = -1;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), micro_batch);
  if (error != std::errc() || micro_batch < 0) return;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  constexpr std::string_view kChunk = " chunk ";
  if (text.starts_with(kChunk)) std::from_chars(text.data() + kChunk.size(), text.data() + text.size(), chunk);
  d.direction = forward ? Direction::forward : Direction::backward;
  d.micro_batch = micro_batch;
  d.chunk = chunk;
}

template <typename Int>
Int clamped(double v) {
  if (!(v >= 0)) return -1;
  return static_cast<Int>(std::min(v, static_cast<double>(std::numeric_limits<Int>::max())));
}

}  // namespace

struct TraceParser::Event {
  const char* start = nullptr;
  char phase = 0;
  Number ts, duration;
  Text name, category, pid, tid, id, binding;
  bool enclosing = false, flow_in = false, flow_out = false;
  std::string_view scope;
  // Read from args.
  Detail detail;
  bool detailed = false;
  double elements = -1;
  std::string_view type;
  Text text;  // args.name or args.labels
  Number sort;
  struct Value {
    Text key;
    Number value;
  };
  std::array<Value, 16> values;  // the values of a counter
  std::size_t value_count = 0;
};

TraceParser::Number TraceParser::number_of(std::string_view text) {
  Number n;
  n.given = true;
  const char *p = text.data(), *end = p + text.size();
  const bool negative = p < end && *p == '-';
  if (negative || (p < end && *p == '+')) ++p;
  const char* digits = p;
  while (p < end && *p >= '0' && *p <= '9' && p - digits < 18) n.us = n.us * 10 + (*p++ - '0');
  bool any = p > digits;
  if (p < end && *p == '.') {
    ++p;
    std::int64_t unit = 1000000;
    for (; p < end && *p >= '0' && *p <= '9'; ++p) {
      any = true;
      if (unit > 1) unit /= 10, n.ps += (*p - '0') * unit;
    }
  }
  if (any && p == end) {
    n.valid = true;
    if (negative) n.us = -n.us, n.ps = -n.ps;
    return n;
  }
  // An exponent, or more than 18 digits.
  double value = 0;
  const char* from = text.data() + (!text.empty() && text[0] == '+' ? 1 : 0);
  const auto [rest, error] = std::from_chars(from, end, value);
  n.us = n.ps = 0;
  if (rest != end || from == end || !std::isfinite(value)) return n;
  n.valid = true;
  value = std::clamp(value, -9e17, 9e17);
  const double whole = std::trunc(value);
  n.us = static_cast<std::int64_t>(whole);
  n.ps = static_cast<std::int64_t>((value - whole) * 1e6);
  return n;
}

TraceParser::Number TraceParser::number(JsonCursor& c) {
  const char first = c.peek();
  if (first == '"') return number_of(c.string().raw);
  if (first == '{' || first == '[') {
    c.skip();
    Number none;
    none.given = true;
    return none;
  }
  return number_of(c.bare());
}

// Moves the bytes from `keep` on to the front and reads more. False at the end of the file.
bool TraceParser::refill(const char* keep) {
  const auto kept = static_cast<std::size_t>(end() - keep);
  const auto dropped = static_cast<std::size_t>(keep - begin());
  if (kept > kLargestValue)
    throw TraceError(
        fmt::format("{}: what begins at byte {} is longer than {} MiB and no event\n  try: look there for "
                    "a quote that is never closed",
                    name_, byte_of(keep), kLargestValue >> 20));
  if (ended_) return false;
  if (buffer_.size() < kept + kPiece + kPadding) {
    std::string larger(std::max(kept * 2, kept + kPiece) + kPadding, '\0');
    std::memcpy(larger.data(), keep, kept);
    buffer_.swap(larger);
  } else {
    std::memmove(buffer_.data(), keep, kept);
  }
  buffer_at_ += dropped;
  const std::size_t n = source_->read(buffer_.data() + kept, buffer_.size() - kPadding - kept);
  filled_ = kept + n;
  std::memset(buffer_.data() + filled_, 0, kPadding);
  at_ = begin();
  ended_ = n == 0;
  if (progress_ && *progress_ && !(*progress_)(source_->used(), source_->total(), out_.store.size())) throw Cancelled{};
  return n > 0;
}

// Reads one value, and begins it again with more text where the buffer ends inside it.
template <typename Read>
void TraceParser::value(const Read& read) {
  for (;;) {
    try {
      JsonCursor c(at_, end());
      read(c);
      at_ = c.at();
      return;
    } catch (const NeedMore&) {
      if (!refill(at_)) throw NotJson{end(), "the file ends in the middle of a value"};
    }
  }
}

void TraceParser::parse(TraceSource& source, const std::filesystem::path& path, const Progress& progress) {
  source_ = &source;
  progress_ = &progress;
  name_ = path.string();
  buffer_.assign(kPiece + kPadding, '\0');
  filled_ = 0, buffer_at_ = 0, at_ = begin(), ended_ = false, has_events_ = false;
  file_ = static_cast<std::uint32_t>(out_.store.files.size());
  out_.store.files.emplace_back().path = path;
  last_lane_key_ = last_process_key_ = ~0ULL;
  const std::size_t before = out_.store.size();
  const auto metadata_before = out_.store.processes.size();
  const auto broken = [&](const std::string& what, std::uint64_t at) {
    const auto events = out_.store.size() - before;
    if (events == 0 && out_.store.processes.size() == metadata_before)
      throw TraceError(
          fmt::format("{}: no timeline: {} (byte {})\n  try: a Chrome trace: an array of events, or an object with "
                      "traceEvents; ui.perfetto.dev reads the same",
                      name_, what, at));
    out_.store.notes.push_back(fmt::format("{}: {} at byte {}; shown are the {} events before it",
                                           path.filename().string(), what, at, events));
  };
  try {
    bool array = false;
    value([&](JsonCursor& c) {
      if (byte_of(c.at()) == 0 && std::string_view(c.at(), 3) == "\xEF\xBB\xBF") c = JsonCursor(c.at() + 3, end());
      array = c.peek() == '[';
      if (!array && c.peek() != '{') throw NotJson{c.at(), "a trace begins with '{' or '['"};
      c.take(c.peek());
    });
    if (array) {
      has_events_ = true;
      elements();
    } else {
      for (bool more = true; more;) {
        std::string key;
        bool done = false;
        value([&](JsonCursor& c) {
          done = c.take('}');
          if (!done) key = decoded(c.key());
        });
        if (done) break;
        if (key == "traceEvents") {
          bool is_array = false;
          value([&](JsonCursor& c) {
            is_array = c.take('[');
            if (!is_array) throw NotJson{c.at(), "traceEvents is no array"};
          });
          has_events_ = true;
          elements();
        } else {
          value([&](JsonCursor& c) { about(key, c); });
        }
        value([&](JsonCursor& c) {
          more = c.take(',');
          if (!more) c.expect('}', "',' or '}' is missing behind a member");
        });
      }
      if (!has_events_) broken("there is no member traceEvents", byte_of(at_));
    }
  } catch (const NotJson& e) {
    broken(e.what, byte_of(std::min(e.at, end())));
  } catch (const TraceError& e) {
    if (out_.store.size() == before) throw;
    std::string what = e.what();
    if (const auto line = what.find('\n'); line != what.npos) what.resize(line);
    out_.store.notes.push_back(what + fmt::format("; shown are the {} events before it", out_.store.size() - before));
  }
  out_.store.files[file_].bytes = buffer_at_ + filled_;
  if (progress) progress(source.total(), source.total(), out_.store.size());
}

// Reads the elements of the array of events and its ']'.
void TraceParser::elements() {
  bool done = false, separator = false;
  value([&](JsonCursor& c) { done = c.take(']'); });
  while (!done) {
    value([&](JsonCursor& c) {
      // Reads all events in the buffer. at_ moves with them, so that no event is read twice.
      for (;;) {
        if (c.peek() == ']') {  // Chrome allows a ',' before it
          c.take(']');
          done = true;
          return;
        }
        if (separator) {
          c.expect(',', "',' or ']' is missing behind an event");
        } else if (c.peek() == '{') {
          event(c);
        } else {
          c.skip();
          ++out_.count(Trouble::no_object);
        }
        separator = !separator;
        at_ = c.at();
      }
    });
  }
}

void TraceParser::about(std::string_view key, JsonCursor& c) {
  auto& file = out_.store.files[file_];
  if (c.peek() == '{' && (key == "otherData" || key == "metadata" || key == "distributedInfo")) {
    c.take('{');
    if (c.take('}')) return;
    do {
      const std::string name = decoded(c.key());
      const char first = c.peek();
      std::string text;
      if (first == '"')
        text = decoded(c.string());
      else if (first == '{' || first == '[')
        c.skip();
      else
        text = std::string(c.bare().substr(0, 64));
      if (!text.empty() && file.about.size() < kMostAbout) file.about[name] = text;
      if (key == "distributedInfo" && (name == "rank" || name == "world_size")) {
        const Number n = number_of(text);
        if (n.valid && n.us >= 0 && n.us < 1'000'000)
          (name == "rank" ? file.rank : file.world) = static_cast<int>(n.us);
      }
    } while (c.take(','));
    c.expect('}', "'}' is missing");
    return;
  }
  c.skip();
}

void TraceParser::argument(const Text& key, JsonCursor& c, Event& e) {
  const std::string_view k = key.raw;
  const auto integer = [&](auto& to) {
    const Number n = number(c);
    if (!n.valid) return;
    to = clamped<std::decay_t<decltype(to)>>(n.value());
    e.detailed = true;
  };
  const char first = c.peek();
  if (k == "bytes" || k == "Bytes" || k == "size_bytes") {
    const Number n = number(c);
    if (n.valid && n.us >= 0) e.detail.bytes = n.value(), e.detailed = true;
  } else if (k == "link_latency_us" || k == "link_bytes_per_second") {
    const Number n = number(c);
    if (!n.valid || n.us < 0) return;
    const auto value = static_cast<float>(n.value());
    (k == "link_latency_us" ? e.detail.latency : e.detail.bandwidth) = k == "link_latency_us" ? value * 1e-6F : value;
    e.detailed = true;
  } else if (k == "step") {
    integer(e.detail.step);
  } else if (k == "chunk") {
    integer(e.detail.chunk);
  } else if (k == "peer" || k == "Peer") {
    integer(e.detail.peer);
  } else if (k == "micro_batch" || k == "micro-batch" || k == "microbatch") {
    integer(e.detail.micro_batch);
  } else if (k == "In msg nelems") {
    const Number n = number(c);
    if (n.valid) e.elements = n.value();
  } else if (first == '"') {
    const Text t = c.string();
    if (k == "name" || k == "labels") {
      e.text = t;
    } else if (k == "phase") {
      e.detail.phase = t.raw == "reduce-scatter" ? Phase::reduce_scatter
                       : t.raw == "all-gather"   ? Phase::all_gather
                                                 : e.detail.phase;
      e.detailed |= e.detail.phase != Phase::none;
    } else if (k == "direction" || k == "pass") {
      e.detail.direction = t.raw == "forward"    ? Direction::forward
                           : t.raw == "backward" ? Direction::backward
                                                 : e.detail.direction;
      e.detailed |= e.detail.direction != Direction::none;
    } else if (k == "range") {
      read_range(t.raw, e.detail);
      e.detailed |= e.detail.direction != Direction::none;
    } else if (k == "dtype") {
      e.type = t.raw;
    } else if (k == "to" && e.detail.peer < 0) {  // "3 (524288 B)"
      const auto digits = t.raw.substr(0, t.raw.find(' '));
      const Number n = number_of(digits);
      if (n.valid && t.raw.find(',') == t.raw.npos) e.detail.peer = clamped<std::int16_t>(n.value()), e.detailed = true;
    } else if (k == "sort_index") {
      e.sort = number_of(t.raw);
    }
  } else if (first == '{' || first == '[') {
    c.skip();
  } else {
    const std::string_view text = c.bare();
    if (k == "sort_index") e.sort = number_of(text);
    if (e.value_count < e.values.size() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9')))
      e.values[e.value_count++] = {key, number_of(text)};
  }
}

void TraceParser::arguments(JsonCursor& c, Event& e) {
  if (c.peek() != '{') return c.skip();
  c.take('{');
  if (c.take('}')) return;
  do {
    const Text key = c.key();
    argument(key, c, e);
  } while (c.take(','));
  c.expect('}', "',' or '}' is missing in args");
}

// Reads a string or a number as text.
static Text word(JsonCursor& c) {
  const char first = c.peek();
  if (first == '"') return c.string();
  if (first == '{' || first == '[') {
    c.skip();
    return {};
  }
  return {c.bare(), true};
}

void TraceParser::event(JsonCursor& c) {
  Event e;
  c.peek();
  e.start = c.at();
  c.take('{');
  if (!c.take('}')) {
    do {
      const std::string_view k = c.key().raw;
      c.peek();
      if (k == "ph") {
        const Text t = word(c);
        e.phase = t.raw.size() == 1 ? t.raw[0] : '\0';
      } else if (k == "ts") {
        e.ts = number(c);
      } else if (k == "dur") {
        e.duration = number(c);
      } else if (k == "pid") {
        e.pid = word(c);
      } else if (k == "tid") {
        e.tid = word(c);
      } else if (k == "name") {
        e.name = word(c);
      } else if (k == "cat") {
        e.category = word(c);
      } else if (k == "args") {
        arguments(c, e);
      } else if (k == "id" || k == "id2") {
        e.id = word(c);
      } else if (k == "bp") {
        e.enclosing = word(c).raw == "e";
      } else if (k == "bind_id") {
        e.binding = word(c);
      } else if (k == "flow_in") {
        e.flow_in = word(c).raw == "true";
      } else if (k == "flow_out") {
        e.flow_out = word(c).raw == "true";
      } else {
        c.skip();
      }
    } while (c.take(','));
    c.expect('}', "',' or '}' is missing in an event");
  }
  accept(e);
}

std::uint32_t TraceParser::intern(const Text& text) {
  if (text.plain) return out_.store.strings.intern(text.raw);
  return out_.store.strings.intern(decoded(text));
}

std::uint16_t TraceParser::category(const Text& text) {
  const std::uint32_t id = intern(text);
  const auto found = category_of_.find(id);
  if (found != category_of_.end()) return found->second;
  auto& all = out_.store.categories;
  if (all.size() >= 65000) {
    ++out_.count(Trouble::too_many_categories);
    return 0;
  }
  all.push_back(id);
  return category_of_[id] = static_cast<std::uint16_t>(all.size() - 1);
}

std::uint32_t TraceParser::process(std::uint32_t pid) {
  const std::uint64_t key = static_cast<std::uint64_t>(file_) << 32 | pid;
  if (key == last_process_key_) return last_process_;
  auto [at, fresh] = process_of_.try_emplace(key, static_cast<std::uint32_t>(out_.store.processes.size()));
  if (fresh && out_.store.processes.size() >= kMostProcesses) {
    at->second = static_cast<std::uint32_t>(out_.store.processes.size() - 1);
  } else if (fresh) {
    Process p;
    p.file = file_, p.pid = pid;
    out_.store.processes.push_back(p);
  }
  last_process_key_ = key;
  return last_process_ = at->second;
}

std::uint32_t TraceParser::lane(std::uint32_t process, std::uint32_t tid, bool async) {
  const std::uint64_t key = (static_cast<std::uint64_t>(process) << 32 | tid) ^ (async ? 1ULL << 63 : 0);
  if (key == last_lane_key_) return last_lane_;
  auto& lanes = out_.store.lanes;
  auto found = lane_of_.find(key);
  if (found == lane_of_.end()) {
    if (lanes.size() >= kMostLanes) {
      ++out_.count(Trouble::too_many_lanes);
      return static_cast<std::uint32_t>(lanes.size() - 1);
    }
    Lane l;
    l.process = process, l.tid = tid, l.async = async;
    lanes.push_back(l);
    open_.emplace_back();
    found = lane_of_.emplace(key, static_cast<std::uint32_t>(lanes.size() - 1)).first;
  }
  last_lane_key_ = key;
  return last_lane_ = found->second;
}

Time TraceParser::time_of(const Number& n) {
  if (!out_.has_base) out_.has_base = true, out_.base = n.us;
  // Both have at most 18 digits, so there is no overflow.
  std::int64_t us = n.us - out_.base;
  if (us > kFarthest || us < -kFarthest) {
    ++out_.count(Trouble::far);
    us = std::clamp(us, -kFarthest, kFarthest);
  }
  return us * 1'000'000 + n.ps;
}

std::uint32_t TraceParser::add(const Event& e, Time at, Time duration, std::uint32_t lane) {
  EventStore& s = out_.store;
  const auto index = static_cast<std::uint32_t>(s.size());
  const std::uint64_t offset = byte_of(e.start);
  s.begin.push_back(at);
  s.duration.push_back(duration);
  s.name.push_back(intern(e.name));
  // CUPTI and PyTorch put NCCL's kernels into the category `kernel`. Their own category keeps them apart from compute
  // kernels.
  const bool nccl = e.category.raw == "kernel" && e.name.raw.starts_with("nccl");
  s.category.push_back(category(nccl ? Text{"nccl kernel"} : e.category));
  s.offset_low.push_back(static_cast<std::uint32_t>(offset));
  s.offset_high.push_back(static_cast<std::uint8_t>(offset >> 32));
  out_.lane.push_back(lane);
  if (e.detailed || e.elements >= 0) {
    Detail d = e.detail;
    d.event = index;
    if (d.bytes < 0 && e.elements >= 0 && element_bytes(e.type) > 0) d.bytes = e.elements * element_bytes(e.type);
    s.details.push_back(d);
  }
  return index;
}

void TraceParser::metadata(const Event& e, std::uint32_t process, std::uint32_t lane) {
  Process& p = out_.store.processes[process];
  const std::string_view what = e.name.raw;
  if (what == "process_name") p.name = decoded(e.text).substr(0, StringTable::kMost);
  if (what == "process_labels") p.labels = decoded(e.text).substr(0, StringTable::kMost);
  if (what == "process_sort_index" && e.sort.valid) p.sort = e.sort.us, p.sorted = true;
  if (lane == kNone) return;
  Lane& l = out_.store.lanes[lane];
  if (what == "thread_name") l.name = decoded(e.text).substr(0, StringTable::kMost);
  if (what == "thread_sort_index" && e.sort.valid) l.sort = e.sort.us, l.sorted = true;
}

void TraceParser::end_last(std::vector<std::uint32_t>& open, Time at) {
  const std::uint32_t index = open.back();
  open.pop_back();
  const Time duration = at - out_.store.begin[index];
  if (duration < 0) ++out_.count(Trouble::negative);
  out_.store.duration[index] = std::max<Time>(duration, 0);
}

void TraceParser::accept(Event& e) {
  if (out_.store.size() >= kMostEvents) return void(++out_.count(Trouble::too_many_events));
  const std::uint32_t pid = process(intern(e.pid));
  if (e.phase == 'M') {
    const bool thread = e.name.raw.starts_with("thread_");
    return metadata(e, pid, thread ? lane(pid, intern(e.tid), false) : kNone);
  }
  if (std::string_view("BEXbeniIRCstf").find(e.phase) == std::string_view::npos || e.phase == 0)
    return void(++out_.count(Trouble::unknown_phase));
  if (!e.ts.valid) return void(++out_.count(Trouble::no_time));
  const Time at = time_of(e.ts);
  switch (e.phase) {
    case 'X': {
      Time duration = 0;
      if (!e.duration.valid) {
        ++out_.count(Trouble::no_duration);
      } else if (e.duration.us < 0 || e.duration.ps < 0) {
        ++out_.count(Trouble::negative);
      } else if (e.duration.us > kFarthest || at / 1'000'000 + e.duration.us > kFarthest) {
        ++out_.count(Trouble::far);
        duration = std::max<Time>(kFarthest * 1'000'000 - at, 0);
      } else {
        duration = e.duration.us * 1'000'000 + e.duration.ps;
      }
      const std::uint32_t on = lane(pid, intern(e.tid), false), index = add(e, at, duration, on);
      if (!e.binding.raw.empty() && (e.flow_in || e.flow_out)) {
        const std::uint64_t id = mix(mix(1, file_), intern(e.binding));
        out_.arrows.push_back({id, at, on, e.flow_in && e.flow_out ? 't' : e.flow_in ? 'f' : 's', true, index});
      }
      break;
    }
    case 'B': {
      const std::uint32_t on = lane(pid, intern(e.tid), false);
      open_[on].push_back(add(e, at, kOpen, on));
      break;
    }
    case 'E': {
      auto& open = open_[lane(pid, intern(e.tid), false)];
      if (open.empty()) return void(++out_.count(Trouble::unopened));
      end_last(open, at);
      break;
    }
    case 'b':
    case 'e': {
      const std::uint64_t key = mix(mix(pid, category(e.category)), intern(e.id));
      if (e.phase == 'b') {
        const std::uint32_t on = lane(pid, intern(e.category), true);
        open_async_[key].push_back(add(e, at, kOpen, on));
        break;
      }
      const auto found = open_async_.find(key);
      if (found == open_async_.end()) return void(++out_.count(Trouble::unopened));
      end_last(found->second, at);
      if (found->second.empty()) open_async_.erase(found);
      break;
    }
    case 'n':
      add(e, at, 0, lane(pid, intern(e.category), true));
      break;
    case 'i':
    case 'I':
    case 'R':
      add(e, at, 0, lane(pid, intern(e.tid), false));
      break;
    case 'C': {
      auto& counters = out_.store.counters;
      for (std::size_t i = 0; i < e.value_count; ++i) {
        const auto& [key, number] = e.values[i];
        if (!number.valid) {
          ++out_.count(Trouble::bad_counter);
          continue;
        }
        const std::uint64_t id = mix(mix(pid, intern(e.name)), intern(key));
        auto found = counter_of_.find(id);
        if (found == counter_of_.end()) {
          if (counters.size() >= kMostCounters) {
            ++out_.count(Trouble::bad_counter);
            continue;
          }
          found = counter_of_.emplace(id, static_cast<std::uint32_t>(counters.size())).first;
          const std::string name = decoded(e.name), of = decoded(key);
          counters.push_back({pid, name.empty() || name == of ? of : fmt::format("{}: {}", name, of), {}, {}});
        }
        counters[found->second].at.push_back(at);
        counters[found->second].value.push_back(number.value());
      }
      if (e.value_count == 0) ++out_.count(Trouble::bad_counter);
      break;
    }
    default: {  // s t f
      // The id includes the file, because PyTorch's ranks use the same ids.
      const std::uint64_t id = mix(mix(mix(2, file_), intern(e.category)), intern(e.id));
      out_.arrows.push_back({id, at, lane(pid, intern(e.tid), false), e.phase, e.phase != 'f' || e.enclosing, kNone});
    }
  }
}

void TraceParser::finish() {
  EventStore& s = out_.store;
  Time last = 0;
  for (std::size_t i = 0; i < s.size(); ++i) last = std::max(last, s.begin[i] + std::max<Time>(s.duration[i], 0));
  const auto close = [&](std::uint32_t index) {
    s.duration[index] = last - s.begin[index];
    ++out_.count(Trouble::unclosed);
  };
  for (auto& open : open_) std::for_each(open.begin(), open.end(), close);
  for (auto& [key, open] : open_async_) std::for_each(open.begin(), open.end(), close);
  open_.clear();
  open_async_.clear();
}

}  // namespace ridge::viz::timeline
