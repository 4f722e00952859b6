// The timeline of RIDGE_TRACE: a Chrome trace, for Perfetto (ui.perfetto.dev) or chrome://tracing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "formats/trace_writer.hpp"
#include "stream/operation.hpp"

namespace ridge::simt {

class Timeline {
 public:
  static Timeline& instance();
  bool on() const { return !target_.empty(); }

  void add(const Operation& operation);
  void add_host(const char* name, double begin, double end);
  // A stream's row: what it is, and the name that the program gave it. Without a name the timeline takes the variable
  // in the source line of `made_at`, of which it is the `nth` stream alive.
  struct Row {
    std::string what, name;
    std::uint32_t made_at = 0;
    std::size_t nth = 0;
  };
  void name_row(int stream, Row row);
  // Writes the file (to a temporary first). Later calls do nothing.
  void write();

 private:
  Timeline();
  void write_names();
  std::string target_;
  TraceWriter writer_;
  std::map<int, Row> rows_;
};

}  // namespace ridge::simt
