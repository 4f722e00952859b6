#include "timeline/store/strings.hpp"

#include <cstring>

namespace ridge::viz::timeline {
namespace {

std::uint64_t hash_of(std::string_view text) {
  constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15;
  std::uint64_t h = text.size() * kPrime;
  const char* p = text.data();
  std::size_t n = text.size();
  for (; n >= 8; n -= 8, p += 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    h = (h ^ word) * kPrime;
    h ^= h >> 29;
  }
  std::uint64_t word = 0;
  if (n > 0) std::memcpy(&word, p, n);
  h = (h ^ word) * kPrime;
  return h ^ (h >> 32);
}

}  // namespace

StringTable::StringTable() : starts_{0}, slots_(1024) { intern(""); }

void StringTable::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& s : old) {
    if (s.id == 0) continue;
    std::size_t at = hash_of((*this)[s.id - 1]) & (slots_.size() - 1);
    while (slots_[at].id != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = s;
  }
}

std::uint32_t StringTable::intern(std::string_view text) {
  text = text.substr(0, kMost);
  const std::uint64_t hash = hash_of(text);
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  std::size_t at = hash & (slots_.size() - 1);
  for (; slots_[at].id != 0; at = (at + 1) & (slots_.size() - 1))
    if (slots_[at].hash == tag && (*this)[slots_[at].id - 1] == text) return slots_[at].id - 1;
  arena_.insert(arena_.end(), text.begin(), text.end());
  starts_.push_back(arena_.size());
  const auto id = static_cast<std::uint32_t>(starts_.size() - 2);
  slots_[at] = {tag, id + 1};
  if (size() * 2 > slots_.size()) grow();
  return id;
}

void StringTable::seal() {
  slots_ = {};
  arena_.shrink_to_fit();
  starts_.shrink_to_fit();
}

std::string clean_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : 0); };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char c = byte(i);
    std::size_t n = c < 0x80                ? 1
                    : c >= 0xC2 && c < 0xE0 ? 2
                    : c >= 0xE0 && c < 0xF0 ? 3
                    : c >= 0xF0 && c < 0xF5 ? 4
                                            : 0;
    for (std::size_t k = 1; k < n; ++k)
      if (byte(i + k) >> 6 != 2) n = 0;
    const unsigned char next = byte(i + 1);  // overlong forms, surrogates, and code points beyond the last
    if ((c == 0xE0 && next < 0xA0) || (c == 0xED && next >= 0xA0) || (c == 0xF0 && next < 0x90) ||
        (c == 0xF4 && next >= 0x90))
      n = 0;
    if (n == 0)
      out += '?';
    else if (c < 0x20 || c == 0x7F)
      out += ' ';
    else
      out += text.substr(i, n);
    i += n == 0 ? 1 : n;
  }
  return out;
}

}  // namespace ridge::viz::timeline
