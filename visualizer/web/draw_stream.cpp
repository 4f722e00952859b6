#include "web/draw_stream.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "web/wire.hpp"

namespace ridge::viz::web {

using Column = std::vector<std::uint32_t>;

// A list as columns of numbers: x, y, u, v, colour, index. Neighbours are alike, so that their differences compress.
struct Columns {
  bool floats = false;  // x and y as floats
  std::array<Column, 5> vertices;
  Column indices;  // each as its difference to the one before, modulo 2^16
};

namespace {

constexpr std::uint8_t kSame = 0, kChanged = 1;
constexpr int kFloatBytes = 4;
constexpr std::array<int, 5> kBytes{3, 3, 2, 2, 4};

// GPUs place vertices at 1/256 of a pixel, so that this loses nothing; 24 bits then reach 32768 pixels.
constexpr float kUnits = 256, kFarthest = 32767;

bool fits(const Vertex& v) { return std::abs(v.x) < kFarthest && std::abs(v.y) < kFarthest; }

std::uint32_t place(float value, bool floats) {
  if (floats) return std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint32_t>(std::lround(value * kUnits)) & 0xFFFFFF;
}

// A part of the texture, of which 1 is the last value below.
std::uint32_t part(float value) {
  const float clamped = std::clamp(std::isfinite(value) ? value : 0, 0.0F, 1.0F);
  return std::min(65535U, static_cast<std::uint32_t>(std::lround(clamped * 65536)));
}

Columns columns_of(const DrawList& list) {
  Columns out;
  out.floats = !std::all_of(list.vertices.begin(), list.vertices.end(), fits);
  for (auto& column : out.vertices) column.reserve(list.vertices.size());
  for (const Vertex& v : list.vertices) {
    out.vertices[0].push_back(place(v.x, out.floats));
    out.vertices[1].push_back(place(v.y, out.floats));
    out.vertices[2].push_back(part(v.u));
    out.vertices[3].push_back(part(v.v));
    out.vertices[4].push_back(v.colour);
  }
  out.indices.reserve(list.indices.size());
  std::uint16_t before = 0;
  for (const std::uint16_t index : list.indices) {
    out.indices.push_back(static_cast<std::uint16_t>(index - before));
    before = index;
  }
  return out;
}

// The differences of neighbours, modulo the column's width, as planes: the low bytes of all, then the next.
void put_column(ByteWriter& out, const Column& column, std::size_t from, std::size_t to, int bytes) {
  for (int plane = 0; plane < bytes; ++plane) {
    std::uint32_t before = 0;
    for (std::size_t i = from; i < to; ++i) {
      out.put(static_cast<std::uint8_t>((column[i] - before) >> (8 * plane)));
      before = column[i];
    }
  }
}

// Indices are differences already.
void put_indices(ByteWriter& out, const Column& column, std::size_t from, std::size_t to) {
  for (int plane = 0; plane < 2; ++plane)
    for (std::size_t i = from; i < to; ++i) out.put(static_cast<std::uint8_t>(column[i] >> (8 * plane)));
}

// How many rows at the beginning and at the end are those of the last frame.
struct Ends {
  std::uint32_t head = 0, tail = 0;
};

template <typename Equal>
Ends equal_ends(std::size_t now, std::size_t before, const Equal& equal) {
  const std::size_t most = std::min(now, before);
  Ends ends;
  while (ends.head < most && equal(ends.head, ends.head)) ++ends.head;
  while (ends.head + ends.tail < most && equal(now - 1 - ends.tail, before - 1 - ends.tail)) ++ends.tail;
  return ends;
}

void put_list(ByteWriter& out, const DrawList& list, const Columns& now, const Columns* before) {
  const std::size_t count = list.vertices.size();
  Ends vertices, indices;
  if (before && before->floats == now.floats) {
    vertices = equal_ends(count, before->vertices[0].size(), [&](std::size_t i, std::size_t j) {
      for (std::size_t c = 0; c < now.vertices.size(); ++c)
        if (now.vertices[c][i] != before->vertices[c][j]) return false;
      return true;
    });
    indices = equal_ends(now.indices.size(), before->indices.size(),
                         [&](std::size_t i, std::size_t j) { return now.indices[i] == before->indices[j]; });
  }
  out.put(static_cast<std::uint8_t>(now.floats));
  out.put(static_cast<std::uint32_t>(count));
  out.put(vertices.head);
  out.put(vertices.tail);
  for (std::size_t c = 0; c < now.vertices.size(); ++c)
    put_column(out, now.vertices[c], vertices.head, count - vertices.tail,
               c < 2 && now.floats ? kFloatBytes : kBytes[c]);
  out.put(static_cast<std::uint32_t>(now.indices.size()));
  out.put(indices.head);
  out.put(indices.tail);
  put_indices(out, now.indices, indices.head, now.indices.size() - indices.tail);
  out.put(static_cast<std::uint16_t>(list.commands.size()));
  for (const Command& command : list.commands) {
    for (const float side : command.clip) out.put(side);
    out.put(command.texture);
    out.put(command.count);
    out.put(command.first_index);
    out.put(command.first_vertex);
  }
}

}  // namespace

struct DrawStream::Last {
  bool some = false;
  DrawFrame frame;
  std::vector<Columns> columns;
};

DrawStream::DrawStream() : last_(std::make_unique<Last>()) {}
DrawStream::~DrawStream() = default;

bool DrawStream::same(const DrawFrame& frame) const { return last_->some && frame == last_->frame; }

std::string DrawStream::encode(DrawFrame frame, std::uint32_t number, std::uint32_t input) {
  ByteWriter out;
  out.put(number);
  out.put(input);
  out.put(frame.width);
  out.put(frame.height);
  out.put(frame.ratio);
  out.put(frame.background);
  out.put(frame.cursor);
  out.put(static_cast<std::uint8_t>(frame.wants_text));
  out.put(static_cast<std::uint16_t>(frame.lists.size()));
  std::vector<Columns> columns(frame.lists.size());
  for (std::size_t i = 0; i < frame.lists.size(); ++i) {
    const auto& before = last_->frame.lists;
    std::size_t k = 0;
    while (k < before.size() && before[k].name != frame.lists[i].name) ++k;
    const bool known = k < before.size();
    if (known && before[k] == frame.lists[i]) {
      out.put(kSame);
      out.put(static_cast<std::uint16_t>(k));
      // Two lists of one name may both refer to it, so it is not moved.
      columns[i] = last_->columns[k];
      continue;
    }
    columns[i] = columns_of(frame.lists[i]);
    out.put(kChanged);
    out.put(static_cast<std::uint16_t>(known ? k : 0xFFFF));
    put_list(out, frame.lists[i], columns[i], known ? &last_->columns[k] : nullptr);
  }
  last_->columns = std::move(columns);
  last_->frame = std::move(frame);
  last_->some = true;
  return out.take();
}

}  // namespace ridge::viz::web
