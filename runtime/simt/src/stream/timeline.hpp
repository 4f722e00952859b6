// The timeline of RIDGE_TRACE: a Chrome trace, for Perfetto (ui.perfetto.dev) or chrome://tracing.
#pragma once
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
  void name_stream(int stream, const std::string& name);
  // Writes the file (to a temporary first). Later calls do nothing.
  void write();

 private:
  Timeline();
  std::string target_;
  TraceWriter writer_;
};

}  // namespace ridge::simt
