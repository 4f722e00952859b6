#include <cmath>
#include <random>

#include "support/catch.hpp"
#include "web/web_input.hpp"

using namespace ridge::viz::web;
using Kind = Event::Kind;

namespace {

std::string events(const ByteWriter& some) {
  ByteWriter out;
  out.put(FromPage::events);
  out.put(std::uint32_t{5});
  out.put_bytes(some.text());
  return out.take();
}

ByteWriter move(float x, float y) {
  ByteWriter out;
  out.put(Kind::move);
  out.put(x);
  out.put(y);
  return out;
}

ByteWriter text(const std::string& content) {
  ByteWriter out;
  out.put(Kind::text);
  out.put_text(content);
  return out;
}

std::string hello(std::uint32_t version, float width, float height, float ratio, std::uint8_t dark) {
  ByteWriter out;
  out.put(FromPage::hello);
  out.put(version);
  out.put(width);
  out.put(height);
  out.put(ratio);
  out.put(dark);
  return out.take();
}

std::string refusal(const std::string& message) {
  try {
    read_message(message);
  } catch (const MessageError& e) {
    return e.what();
  }
  return "taken";
}

Event of(Kind kind, std::uint16_t code = 0, bool on = false, float x = 0) {
  Event e;
  e.kind = kind, e.code = code, e.on = on, e.x = x;
  return e;
}

}  // namespace

TEST_CASE("a hello says version, size and theme") {
  const auto message = read_message(hello(kVersion, 1280, 720, 1.5F, 1));
  CHECK(message.kind == FromPage::hello);
  REQUIRE(message.events.size() == 2);
  CHECK(message.events[0].x == 1280);
  CHECK(message.events[0].ratio == 1.5F);
  CHECK(message.events[1].on);
  CHECK(refusal(hello(kVersion + 1, 1280, 720, 1, 0)) ==
        "the page speaks version 2, the program version 1: reload the page");
  CHECK(refusal(hello(kVersion, 0, 720, 1, 0)) == "the canvas's width is 0, and is to be 64 to 8192");
  CHECK(refusal(hello(kVersion, 1280, NAN, 1, 0)).find("the canvas's height is nan") == 0);
  CHECK(refusal(hello(kVersion, 1280, 720, INFINITY, 0)).find("the pixel ratio is inf") == 0);
  CHECK(refusal(hello(kVersion, 1280, 720, 1, 2)) == "dark is 2, and is to be 0 or 1");
}

TEST_CASE("what is not of the protocol is refused with a reason") {
  CHECK(refusal("") == "the message ends too early");
  CHECK(refusal("z") == "there is no message of kind 122");
  CHECK(refusal("a\1\2") == "the message ends too early");
  CHECK(refusal(std::string("l!")) == "the message has more bytes than its kind");
  CHECK(refusal(std::string(kMostInput + 1, 'e')) == "the message has 65537 bytes, and the most is 65536");
  ByteWriter unknown;
  unknown.put(std::uint8_t{99});
  CHECK(refusal(events(unknown)) == "there is no event 99");
  CHECK(refusal(events(move(1e9F, 0))).find("the mouse's x is 1") == 0);
  ByteWriter button;
  button.put(Kind::button);
  button.put(std::uint16_t{5});
  button.put(std::uint8_t{1});
  CHECK(refusal(events(button)) == "the mouse's button is 5, and is to be below 5");
  ByteWriter many;
  for (std::size_t i = 0; i <= kMostEvents; ++i) many.put(Kind::leave);
  CHECK(refusal(events(many)) == "the message has more than 4096 events");
}

TEST_CASE("typed text is UTF-8") {
  CHECK(read_message(events(text("\xCF\x80r\xC2\xB2 \xF0\x9F\x98\x80"))).events[0].text ==
        "\xCF\x80r\xC2\xB2 \xF0\x9F\x98\x80");
  for (const char* wrong : {"\xFF", "\xC0\x80", "\xED\xA0\x80", "\xE2\x82", "\xF4\x90\x80\x80", "\xF0\x80\x80\x80"})
    CHECK(refusal(events(text(wrong))) == "the typed text is no UTF-8");
  CHECK(refusal(events(text(std::string("a\0b", 3)))) == "the typed text is no UTF-8");
}

TEST_CASE("moves add up while frames wait, presses do not") {
  EventQueue queue;
  for (int i = 0; i < 1000; ++i)
    queue.add(
        {of(Kind::move, 0, false, static_cast<float>(i)), of(Kind::move, 0, false, static_cast<float>(i) + 0.5F)});
  CHECK(queue.size() == 1);
  CHECK(queue.next().at(0).x == 999.5F);
  queue.add(
      {of(Kind::button, 0, true), of(Kind::button, 0, false), of(Kind::button, 0, true), of(Kind::button, 0, false)});
  for (const bool down : {true, false, true, false}) {
    const auto frame = queue.next();
    REQUIRE(frame.size() == 1);
    CHECK(frame[0].on == down);
  }
  CHECK(queue.empty());
}

TEST_CASE("a press is where the mouse was") {
  EventQueue queue;
  queue.add({of(Kind::move, 0, false, 1), of(Kind::button, 0, true), of(Kind::move, 0, false, 2),
             of(Kind::button, 0, false)});
  const auto first = queue.next(), second = queue.next();
  REQUIRE(first.size() == 2);
  CHECK(first[0].x == 1);
  REQUIRE(second.size() == 2);
  CHECK(second[0].x == 2);
}

TEST_CASE("turns of the wheel add up, up to a bound") {
  EventQueue queue;
  Event turn = of(Kind::wheel);
  turn.y = 900;
  queue.add({turn, turn});
  CHECK(queue.next().at(0).y == 1000);
}

TEST_CASE("random bytes are taken or refused, and nothing else") {
  std::mt19937 random(20261128);
  const std::string kinds = "haelx";
  std::size_t taken = 0;
  for (int i = 0; i < 50000; ++i) {
    std::string message(random() % 64, '\0');
    for (char& c : message) c = static_cast<char>(random() % (random() % 4 ? 12 : 256));
    if (!message.empty() && random() % 8) message[0] = kinds[random() % kinds.size()];
    if (refusal(message) != "taken") continue;
    ++taken;
    EventQueue queue;
    queue.add(read_message(message).events);
    // Each frame takes something, or the queue never ends.
    while (!queue.empty()) REQUIRE_FALSE(queue.next().empty());
  }
  CHECK(taken > 100);
}
