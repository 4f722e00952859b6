// A trace ready to be drawn: events as a structure of arrays, ordered by lane, row and begin.
// Times are picoseconds since the first event of the first file, in 64 bits, at most 46 days.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "timeline/store/strings.hpp"

namespace ridge::viz::timeline {

using Time = std::int64_t;  // ps
inline constexpr std::uint32_t kNone = 0xFFFFFFFF;
inline double seconds(Time t) { return static_cast<double>(t) * 1e-12; }

enum class Phase : std::uint8_t { none, reduce_scatter, all_gather };  // a ring step's phase
enum class Direction : std::uint8_t { none, forward, backward };       // a pipeline step's direction

// Details of the few events whose args have them; -1 where one is missing.
struct Detail {
  std::uint32_t event = 0;
  std::int32_t step = -1;
  double bytes = -1;
  float latency = -1, bandwidth = -1;  // of the link that a send takes while it is idle: s, B/s
  std::int16_t chunk = -1, peer = -1, micro_batch = -1;
  Phase phase = Phase::none;
  Direction direction = Direction::none;
};

struct Process {
  std::uint32_t file = 0;  // index in EventStore::files
  std::uint32_t pid = 0;   // number of its text
  std::string name, labels;
  std::int64_t sort = 0;
  bool sorted = false;
  int rank = -1;  // -1 where the file does not say
};

// The events of one thread or stream, in rows of events that do not overlap.
struct Lane {
  std::uint32_t process = 0, tid = 0;
  std::string name;
  std::int64_t sort = 0;
  bool sorted = false, async = false;
  std::uint32_t first_row = 0, rows = 0;
};

struct Row {
  std::uint32_t lane = 0, first = 0, last = 0;  // events [first, last), ordered by begin
  std::uint32_t levels = 0;                     // index of its first Level (levels.hpp)
};

// One level in a row's tree of sums.
struct Level {
  std::uint32_t first = 0, count = 0, span = 0;  // nodes [first, first + count), each of `span` events
};

struct Arrow {
  Time from_time = 0, to_time = 0;
  std::uint32_t from = kNone, to = kNone;  // indices of events
};

struct Counter {
  std::uint32_t process = 0;
  std::string name;
  std::vector<Time> at;
  std::vector<double> value;
};

struct SourceFile {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  int rank = -1, world = -1;
  std::map<std::string, std::string> about;  // texts and numbers of otherData, metadata and distributedInfo
};

struct EventStore {
  std::vector<SourceFile> files;
  StringTable strings;
  std::vector<Process> processes;  // in the order of drawing
  std::vector<Lane> lanes;         // in the order of drawing
  std::vector<Row> rows;

  std::vector<Time> begin, duration;
  std::vector<std::uint32_t> name;
  std::vector<std::uint16_t> category;    // index in categories
  std::vector<std::uint32_t> offset_low;  // byte of the event's object in its file
  std::vector<std::uint8_t> offset_high;

  std::vector<std::uint32_t> categories;  // numbers of their texts
  std::vector<Detail> details;            // ordered by event
  std::vector<Arrow> arrows;
  std::vector<Counter> counters;

  // Sums over runs of events (levels.hpp).
  std::vector<Level> levels;
  std::vector<Time> node_busy;
  std::vector<std::uint16_t> node_category, node_share;  // the dominant category, and its share in units of 1/65535

  Time first = 0, last = 0;
  std::vector<std::string> notes;  // what was dropped, clamped or guessed

  std::size_t size() const { return begin.size(); }
  Time end(std::size_t event) const { return begin[event] + duration[event]; }
  std::uint64_t offset(std::size_t event) const {
    return static_cast<std::uint64_t>(offset_high[event]) << 32 | offset_low[event];
  }
  std::string_view name_of(std::size_t event) const { return strings[name[event]]; }
  std::string_view category_of(std::size_t event) const { return strings[categories[category[event]]]; }
  std::uint32_t row_of(std::size_t event) const;
  const Detail* detail(std::size_t event) const;  // nullptr where it has none
  int rank_of(const Process& p) const;            // the rank in the file, else the process's place
  std::size_t bytes() const;                      // memory in bytes
};

}  // namespace ridge::viz::timeline
