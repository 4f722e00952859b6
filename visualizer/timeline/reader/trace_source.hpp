// Sources of trace text: a file, a gzip file, or memory.
#pragma once
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ridge::viz::timeline {

// Its message says what failed, in which file, at which byte, and what to try.
struct TraceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class TraceSource {
 public:
  virtual ~TraceSource() = default;
  // Reads at most `most` bytes to `to` and returns their number, 0 at the end. Throws TraceError.
  virtual std::size_t read(char* to, std::size_t most) = 0;
  // Skips `n` bytes. False: the file ends before.
  virtual bool skip(std::uint64_t n);
  // Bytes of the file read so far, of total(), for the progress bar.
  virtual std::uint64_t used() const = 0;
  virtual std::uint64_t total() const = 0;
};

// Opens a trace; its first bytes tell gzip. Throws TraceError.
std::unique_ptr<TraceSource> open_trace(const std::filesystem::path& file);
std::unique_ptr<TraceSource> memory_trace(std::string_view text);  // `text` must outlive it

}  // namespace ridge::viz::timeline
