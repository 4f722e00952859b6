#include <zlib.h>

#include <bit>
#include <cmath>

#include "support/catch.hpp"
#include "web/deflate.hpp"
#include "web/draw_stream.hpp"
#include "web/wire.hpp"

using namespace ridge::viz::web;

namespace {

// Reads what the page reads: numbers as README.md of visualizer/web lists them.
class Decoder {
 public:
  DrawFrame decode(const std::string& bytes) {
    ByteReader in(bytes);
    DrawFrame frame;
    number = in.get<std::uint32_t>();
    input = in.get<std::uint32_t>();
    frame.width = in.get<float>(), frame.height = in.get<float>(), frame.ratio = in.get<float>();
    frame.background = in.get<std::uint32_t>();
    frame.cursor = in.get<std::uint8_t>();
    frame.wants_text = in.get<std::uint8_t>() == 1;
    const auto lists = in.get<std::uint16_t>();
    std::vector<List> now;
    changed = 0;
    for (int i = 0; i < lists; ++i) {
      const auto kind = in.get<std::uint8_t>();
      const auto from = in.get<std::uint16_t>();
      now.push_back(kind == 0 ? last_.at(from) : list(in, from == 0xFFFF ? nullptr : &last_.at(from)));
      changed += kind;
      frame.lists.push_back(now.back().list);
    }
    CHECK(in.done());
    last_ = std::move(now);
    return frame;
  }
  std::uint32_t number = 0, input = 0;
  int changed = 0;

 private:
  struct List {
    DrawList list;
    std::vector<std::uint16_t> steps;
  };

  static std::vector<std::uint32_t> column(ByteReader& in, std::size_t count, int bytes) {
    std::vector<std::uint32_t> out(count);
    for (int plane = 0; plane < bytes; ++plane)
      for (auto& value : out) value |= std::uint32_t{in.get<std::uint8_t>()} << (8 * plane);
    return out;
  }

  static std::vector<std::uint32_t> sums(std::vector<std::uint32_t> values) {
    for (std::size_t i = 1; i < values.size(); ++i) values[i] += values[i - 1];
    return values;
  }

  static List list(ByteReader& in, const List* base) {
    List out;
    const bool floats = in.get<std::uint8_t>() == 1;
    const auto count = in.get<std::uint32_t>(), head = in.get<std::uint32_t>(), tail = in.get<std::uint32_t>();
    const std::size_t middle = count - head - tail;
    const auto x = sums(column(in, middle, floats ? 4 : 3)), y = sums(column(in, middle, floats ? 4 : 3));
    const auto u = sums(column(in, middle, 2)), v = sums(column(in, middle, 2)), colour = sums(column(in, middle, 4));
    const auto place = [&](std::uint32_t value) {
      if (floats) return std::bit_cast<float>(value);
      return static_cast<float>(static_cast<std::int32_t>(value << 8) >> 8) / 256;
    };
    for (std::size_t i = 0; i < head; ++i) out.list.vertices.push_back(base->list.vertices.at(i));
    for (std::size_t i = 0; i < middle; ++i)
      out.list.vertices.push_back({place(x[i]), place(y[i]), static_cast<float>(u[i] & 0xFFFF) / 65536,
                                   static_cast<float>(v[i] & 0xFFFF) / 65536, colour[i]});
    for (std::size_t i = tail; i > 0; --i)
      out.list.vertices.push_back(base->list.vertices.at(base->list.vertices.size() - i));
    const auto total = in.get<std::uint32_t>(), first = in.get<std::uint32_t>(), last = in.get<std::uint32_t>();
    for (std::size_t i = 0; i < first; ++i) out.steps.push_back(base->steps.at(i));
    for (const auto step : column(in, total - first - last, 2)) out.steps.push_back(static_cast<std::uint16_t>(step));
    for (std::size_t i = last; i > 0; --i) out.steps.push_back(base->steps.at(base->steps.size() - i));
    std::uint16_t index = 0;
    for (const auto step : out.steps) out.list.indices.push_back(index = static_cast<std::uint16_t>(index + step));
    const auto commands = in.get<std::uint16_t>();
    for (int i = 0; i < commands; ++i) {
      Command c{};
      for (float& side : c.clip) side = in.get<float>();
      c.texture = in.get<std::uint32_t>(), c.count = in.get<std::uint32_t>();
      c.first_index = in.get<std::uint32_t>(), c.first_vertex = in.get<std::uint32_t>();
      out.list.commands.push_back(c);
    }
    return out;
  }
  std::vector<List> last_;
};

// A list of `count` squares in a row.
DrawList squares(const std::string& name, int count) {
  DrawList out;
  out.name = name;
  for (int i = 0; i < count; ++i) {
    const float x = 3.25F * static_cast<float>(i), y = -7.5F;
    const auto at = static_cast<std::uint16_t>(out.vertices.size());
    for (const auto& [dx, dy] : {std::pair{0.0F, 0.0F}, {3.0F, 0.0F}, {3.0F, 3.0F}, {0.0F, 3.0F}})
      out.vertices.push_back({x + dx, y + dy, 0.25F, 0.5F, 0x80FF0000U + static_cast<std::uint32_t>(i)});
    for (const int k : {0, 1, 2, 0, 2, 3}) out.indices.push_back(static_cast<std::uint16_t>(at + k));
  }
  out.commands = {{{0, 0, 100, 50.5F}, 1, static_cast<std::uint32_t>(out.indices.size()), 0, 0}};
  return out;
}

DrawFrame frame_of(std::vector<DrawList> lists) {
  DrawFrame frame;
  frame.width = 640, frame.height = 360, frame.ratio = 1.5F;
  frame.background = 0xFF112233, frame.cursor = 2, frame.wants_text = true;
  frame.lists = std::move(lists);
  return frame;
}

// Names stay with the program.
DrawFrame nameless(DrawFrame frame) {
  for (auto& list : frame.lists) list.name.clear();
  return frame;
}

}  // namespace

TEST_CASE("a frame comes back as it was") {
  DrawStream stream;
  Decoder page;
  const DrawFrame frame = frame_of({squares("a", 3), squares("b", 0), squares("c", 20000)});
  CHECK(page.decode(stream.encode(frame, 7, 9)) == nameless(frame));
  CHECK(page.number == 7);
  CHECK(page.input == 9);
}

TEST_CASE("a list that did not change is not sent again") {
  DrawStream stream;
  Decoder page;
  DrawFrame frame = frame_of({squares("rail", 50), squares("view", 100)});
  page.decode(stream.encode(frame, 1, 0));
  CHECK(stream.same(frame));
  frame.lists[1] = squares("view", 101);
  CHECK_FALSE(stream.same(frame));
  CHECK(page.decode(stream.encode(frame, 2, 0)) == nameless(frame));
  CHECK(page.changed == 1);
  // Another order, and a list that is gone: names tell them apart.
  frame.lists = {squares("view", 101), squares("tip", 2), squares("rail", 50)};
  CHECK(page.decode(stream.encode(frame, 3, 0)) == nameless(frame));
  CHECK(page.changed == 1);
}

TEST_CASE("of a list that changed, its ends are not sent again") {
  DrawStream stream;
  Decoder page;
  DrawFrame frame = frame_of({squares("view", 500)});
  const std::size_t whole = stream.encode(frame, 1, 0).size();
  DrawStream again;
  page.decode(again.encode(frame, 1, 0));
  SECTION("a colour in the middle") { frame.lists[0].vertices[1000].colour = 1; }
  SECTION("a square more in the middle") {
    DrawList& list = frame.lists[0];
    list.indices = squares("view", 501).indices;
    list.commands = squares("view", 501).commands;
    const DrawList more = squares("view", 1);
    list.vertices.insert(list.vertices.begin() + 400, more.vertices.begin(), more.vertices.end());
  }
  SECTION("fewer at the end") { frame.lists[0] = squares("view", 10); }
  SECTION("nothing left") { frame.lists[0] = squares("view", 0); }
  const std::string bytes = again.encode(frame, 2, 0);
  CHECK(page.decode(bytes) == nameless(frame));
  CHECK(bytes.size() < whole / 2);
}

TEST_CASE("places far away, and no numbers, go as floats") {
  DrawStream stream;
  Decoder page;
  DrawFrame frame = frame_of({squares("view", 4)});
  page.decode(stream.encode(frame, 1, 0));
  frame.lists[0].vertices[3].x = 1e7F;
  CHECK(page.decode(stream.encode(frame, 2, 0)) == nameless(frame));
  frame.lists[0].vertices[3].x = NAN;
  CHECK(std::isnan(page.decode(stream.encode(frame, 3, 0)).lists[0].vertices[3].x));
  frame.lists[0].vertices[3].x = -32766;
  frame.lists[0].vertices[3].u = 1;
  CHECK(page.decode(stream.encode(frame, 4, 0)).lists[0].vertices[3].x == -32766);
}

TEST_CASE("a place is kept to 1/256 of a pixel") {
  DrawStream stream;
  Decoder page;
  DrawFrame frame = frame_of({squares("view", 1)});
  for (const float x : {0.1F, -0.1F, 1279.99F, -4000.123F}) {
    frame.lists[0].vertices[0].x = x;
    CHECK(std::abs(page.decode(stream.encode(frame, 1, 0)).lists[0].vertices[0].x - x) <= 0.5F / 256);
  }
}

TEST_CASE("each addition to the compressed stream can be read at once") {
  Deflate deflate(4);
  z_stream z{};
  REQUIRE(inflateInit2(&z, -15) == Z_OK);
  for (const std::string& plain : {std::string("one"), std::string(300000, 'x'), std::string("one more")}) {
    std::string packed = deflate.add(plain), out(plain.size() + 1, '\0');
    z.next_in = reinterpret_cast<Bytef*>(packed.data());
    z.avail_in = static_cast<uInt>(packed.size());
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    inflate(&z, Z_SYNC_FLUSH);
    CHECK(out.substr(0, out.size() - z.avail_out) == plain);
  }
  inflateEnd(&z);
}
