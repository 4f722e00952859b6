// Writes scalars as TensorBoard reads them: a file of TFRecords, each of which holds one Event (a protocol buffer).
//   TFRecord: length (8 bytes), masked CRC32C of these 8 bytes, data, masked CRC32C of the data.
//   Event: 1 wall_time (double), 2 step (int64), 3 file_version (string) or 5 summary (Summary)
//   Summary: 1 value (repeated: 1 tag (string), 2 simple_value (float))
// Sources: tensorflow/core/util/event.proto and framework/summary.proto, lib/io/record_writer. All numbers are little-endian.
#pragma once
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// CRC32C (Castagnoli, reflected).
inline std::uint32_t crc32c(const std::string& bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i;
      for (int k = 0; k < 8; ++k) c = (c >> 1) ^ ((c & 1) != 0 ? 0x82f63b78u : 0u);
      t[i] = c;
    }
    return t;
  }();
  std::uint32_t c = 0xffffffffu;
  for (const char b : bytes) c = (c >> 8) ^ table[(c ^ static_cast<unsigned char>(b)) & 0xff];
  return ~c;
}

class EventFile {
 public:
  // Makes the file PATH, whose name must contain "tfevents".
  EventFile(const std::string& path, double wall_time) : file_(std::fopen(path.c_str(), "wb")) {
    if (file_ == nullptr) throw std::runtime_error("cannot make " + path + ": " + std::strerror(errno));
    write(number(1, wall_time) + text(3, "brain.Event:2"));
  }
  ~EventFile() { std::fclose(file_); }
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  // wall_time: s since 1970. The record has left this process when it returns.
  void scalars(double wall_time, long long step, const std::vector<std::pair<std::string, float>>& values) {
    std::string summary;
    for (const auto& [tag, value] : values) summary += text(1, text(1, tag) + number(2, value));
    write(number(1, wall_time) + key(2, 0) + varint(static_cast<std::uint64_t>(step)) + text(5, summary));
  }

 private:
  static std::string varint(std::uint64_t v) {
    std::string s;
    for (; v >= 128; v >>= 7) s += static_cast<char>(v | 128);
    return s + static_cast<char>(v);
  }
  static std::string key(unsigned field, unsigned type) { return varint(field << 3 | type); }
  static std::string text(unsigned field, const std::string& s) { return key(field, 2) + varint(s.size()) + s; }
  template <class T>
  static std::string number(unsigned field, T v) {
    return key(field, sizeof v == 8 ? 1 : 5) + raw(v);
  }
  template <class T>
  static std::string raw(T v) {
    std::string s(sizeof v, '\0');
    std::memcpy(s.data(), &v, sizeof v);
    return s;
  }
  static std::string masked(const std::string& bytes) {
    const std::uint32_t c = crc32c(bytes);
    return raw(static_cast<std::uint32_t>((c >> 15 | c << 17) + 0xa282ead8u));
  }
  void write(const std::string& event) {
    const std::string length = raw(static_cast<std::uint64_t>(event.size()));
    const std::string record = length + masked(length) + event + masked(event);
    if (std::fwrite(record.data(), 1, record.size(), file_) != record.size() || std::fflush(file_) != 0)
      throw std::runtime_error(std::string("cannot write an event: ") + std::strerror(errno));
  }
  std::FILE* file_;
};
