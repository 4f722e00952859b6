// The emulator's counts by kernel and by source line, and its virtual timeline.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ridge {

struct LineCount {
  std::string file;
  int line = 0;
  std::string op;  // global_ld, global_st, shared_ld, shared_st
  std::uint64_t requests = 0, sectors = 0, ideal_sectors = 0, wavefronts = 0, conflicts = 0;
  std::uint64_t lanes = 0, bytes = 0;  // active lanes and what they asked for, summed over requests
  // Bytes between the addresses of two neighbouring lanes, least and most; empty where no two were active.
  std::optional<std::pair<std::int64_t, std::int64_t>> lane_step = {};
};

// All launches of one kernel.
struct KernelCount {
  std::string kernel;
  std::array<std::uint64_t, 3> grid{}, block{};  // of the first launch
  int launches = 0;
  std::map<std::string, std::uint64_t> counters;
  std::vector<LineCount> lines;
};

// The device work of a call in the emulator's virtual time (seconds).
struct Timeline {
  struct Item {
    std::string name, kind;  // kernel, h2d, d2h, d2d, fill, exchange, file
    int stream = 0;
    double issued = 0, start = 0, end = 0, bytes = 0;
    std::array<std::uint64_t, 3> grid{}, block{};  // of a kernel
    std::uint64_t graph = 0;                       // which launch of a graph it belongs to; 0: none
    struct Part {  // of a call between ranks: a message; channel and number are the same on both ends
      std::uint64_t peer = 0, sent = 0, bytes = 0, channel = 0, number = 0;
      double latency = 0, seconds_per_byte = 0;  // of the link while it is idle; 0: unknown
    };
    std::vector<Part> parts = {};
    std::vector<std::uint64_t> waits = {};  // indices of the items of other streams that it waited for
    bool pageable = false;                  // a copy whose side of the host is pageable memory
    // Of a copy from page-locked memory that the submission has allocated: equal for copies that read the same bytes,
    // from 1 on. `unwaited`: an earlier one of them was issued for which the host has not waited.
    std::uint64_t source = 0;
    bool unwaited = false;
  };
  struct Call {  // of the host
    std::string name;
    double start = 0, end = 0;
  };
  std::string wrong_case;  // the case that it shows where an answer is wrong; empty: the measured one
  double seconds = 0;      // of all
  double launches = 0;     // calls that put work on the device
  std::vector<Item> items;
  std::vector<Call> calls;
  std::optional<int> stream;  // the one that the call was given
  struct Stream {
    std::string name;           // that the submission gave, or of the variable that holds it; empty: unknown
    std::uint64_t made_at = 0;  // place of the call that made it, an offset in the program; 0: unknown
    std::uint64_t nth = 0;      // of the streams alive that this call made, from 0
  };
  std::map<int, Stream> streams;                      // by number
  std::uint64_t graphs_made = 0, graphs_changed = 0;  // calls that instantiate a graph, or set parameters of one
  std::uint64_t left_out = 0;                         // items and calls that the emulator did not list
};

struct Counted {
  std::vector<KernelCount> kernels;
  double global_sectors = 0;                                     // of kernels
  double from_host = 0, to_host = 0, on_device = 0, filled = 0;  // bytes that calls of the runtime moved
  double shared_requests = 0, shared_conflicts = 0;
  Timeline timeline = {};
};

}  // namespace ridge
