// Parses Chrome Trace Event JSON into unordered events, in one pass with a sliding buffer.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "timeline/reader/json_cursor.hpp"
#include "timeline/reader/trace_source.hpp"
#include "timeline/store/store.hpp"

namespace ridge::viz::timeline {

// Called after each piece of the file; false cancels.
using Progress = std::function<bool(std::uint64_t used, std::uint64_t total, std::uint64_t events)>;
struct Cancelled {};

// Defects of a trace, which are counted and shown as notes.
enum class Trouble {
  no_time,         // ts is missing or not a number
  no_duration,     // an X without dur, taken as 0
  negative,        // dur is below 0, taken as 0
  far,             // more than 46 days from the first event, clamped
  unopened,        // an E without its B
  unclosed,        // a B without its E, ended with the trace
  unknown_phase,   // P, O, N, D, ...
  no_object,       // an element of traceEvents that is not an object
  bad_counter,     // a value of a C that is not a number
  loose_arrow,     // an s without its f, or an f without its s
  too_many_lanes,  // events beyond the limit share the last lane
  too_many_categories,
  too_deep,  // events overlap beyond the rows of a lane
  too_many_events,
  kCount
};

struct RawArrow {
  std::uint64_t id = 0;
  Time at = 0;
  std::uint32_t lane = 0;
  char phase = 's';  // s, t, f
  bool enclosing = true;
  std::uint32_t event = kNone;  // known for events with flow_in or flow_out
};

// The parsed trace, in the order of the files.
struct RawTrace {
  EventStore store;  // rows, levels and arrows are still missing
  std::vector<std::uint32_t> lane;
  std::vector<RawArrow> arrows;
  std::array<std::uint64_t, static_cast<std::size_t>(Trouble::kCount)> troubles{};
  std::uint64_t& count(Trouble t) { return troubles[static_cast<std::size_t>(t)]; }
  bool has_base = false;
  std::int64_t base = 0;  // the origin of times in us
};

class TraceParser {
 public:
  explicit TraceParser(RawTrace& out) : out_(out) {}
  // Adds a file, which messages call `path`. Throws TraceError where nothing of it can be shown, and Cancelled.
  void parse(TraceSource& source, const std::filesystem::path& path, const Progress& progress);
  // Closes open events. Call it once, after the last file.
  void finish();

 private:
  struct Number {
    bool given = false, valid = false;
    std::int64_t us = 0, ps = 0;  // value = us + ps / 1e6
    double value() const { return static_cast<double>(us) + static_cast<double>(ps) * 1e-6; }
  };
  struct Event;
  bool refill(const char* keep);
  const char* begin() const { return buffer_.data(); }
  const char* end() const { return buffer_.data() + filled_; }
  std::uint64_t byte_of(const char* at) const { return buffer_at_ + static_cast<std::uint64_t>(at - begin()); }
  template <typename Read>
  void value(const Read& read);
  void top(JsonCursor& c);
  void elements();
  void about(std::string_view key, JsonCursor& c);
  void event(JsonCursor& c);
  void arguments(JsonCursor& c, Event& e);
  void argument(const Text& key, JsonCursor& c, Event& e);
  static Number number(JsonCursor& c);
  static Number number_of(std::string_view text);
  void accept(Event& e);
  // Ends the event that was opened last.
  void end_last(std::vector<std::uint32_t>& open, Time at);
  void metadata(const Event& e, std::uint32_t process, std::uint32_t lane);
  Time time_of(const Number& n);
  std::uint32_t intern(const Text& text);
  std::uint16_t category(const Text& text);
  std::uint32_t process(std::uint32_t pid);
  std::uint32_t lane(std::uint32_t process, std::uint32_t tid, bool async);
  std::uint32_t add(const Event& e, Time at, Time duration, std::uint32_t lane);

  RawTrace& out_;
  TraceSource* source_ = nullptr;
  const Progress* progress_ = nullptr;
  std::string name_;  // the file's name in messages
  std::string buffer_;
  std::size_t filled_ = 0;
  std::uint64_t buffer_at_ = 0;  // the buffer's offset in the file
  const char* at_ = nullptr;     // the next unread byte
  bool ended_ = false, has_events_ = false;
  std::uint32_t file_ = 0;
  std::string scratch_;

  std::unordered_map<std::uint32_t, std::uint16_t> category_of_;
  std::unordered_map<std::uint64_t, std::uint32_t> process_of_;  // file, pid
  std::unordered_map<std::uint64_t, std::uint32_t> lane_of_;     // process, tid
  std::uint64_t last_lane_key_ = ~0ULL;
  std::uint32_t last_lane_ = 0, last_process_ = kNone;
  std::uint64_t last_process_key_ = ~0ULL;
  std::vector<std::vector<std::uint32_t>> open_;                              // open B events by lane
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> open_async_;  // open b events by id
  std::unordered_map<std::uint64_t, std::uint32_t> counter_of_;
};

}  // namespace ridge::viz::timeline
