#include "web/web_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ridge::viz::web {
namespace {

constexpr float kFar = 1 << 16;  // pixels: a drag may leave the canvas
constexpr float kMostNotches = 1000;
constexpr float kLeastRatio = 0.25F, kMostRatio = 8;

float number_in(ByteReader& in, float low, float high, const char* what) {
  const auto value = in.get<float>();
  if (!(value >= low && value <= high))
    throw MessageError(fmt::format("{} is {}, and is to be {} to {}", what, value, low, high));
  return value;
}

bool flag_in(ByteReader& in, const char* what) {
  const auto value = in.get<std::uint8_t>();
  if (value > 1) throw MessageError(fmt::format("{} is {}, and is to be 0 or 1", what, value));
  return value == 1;
}

std::uint16_t code_in(ByteReader& in, std::uint16_t below, const char* what) {
  const auto value = in.get<std::uint16_t>();
  if (value >= below) throw MessageError(fmt::format("{} is {}, and is to be below {}", what, value, below));
  return value;
}

// Shortest forms only, no surrogates, nothing above U+10FFFF, no NUL.
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const int more = byte < 0x80                   ? 0
                     : byte >= 0xC2 && byte < 0xE0 ? 1
                     : byte >= 0xE0 && byte < 0xF0 ? 2
                     : byte >= 0xF0 && byte < 0xF5 ? 3
                                                   : -1;
    if (byte == 0 || more < 0 || i + static_cast<std::size_t>(more) >= text.size()) return false;
    std::uint32_t point = more == 0 ? byte : byte & (0x3FU >> more);
    for (int k = 1; k <= more; ++k) {
      const auto next = static_cast<unsigned char>(text[i + static_cast<std::size_t>(k)]);
      if ((next & 0xC0) != 0x80) return false;
      point = point << 6 | (next & 0x3FU);
    }
    if ((more == 2 && (point < 0x800 || (point >= 0xD800 && point < 0xE000))) ||
        (more == 3 && (point < 0x10000 || point > 0x10FFFF)))
      return false;
    i += static_cast<std::size_t>(more) + 1;
  }
  return true;
}

std::string text_in(ByteReader& in, const char* what) {
  const auto text = in.get_text();
  if (!is_utf8(text)) throw MessageError(fmt::format("{} is no UTF-8", what));
  return std::string(text);
}

void size_in(ByteReader& in, Event& event) {
  event.x = number_in(in, kSmallest, kLargest, "the canvas's width");
  event.y = number_in(in, kSmallest, kLargest, "the canvas's height");
  event.ratio = number_in(in, kLeastRatio, kMostRatio, "the pixel ratio");
}

Event event_in(ByteReader& in) {
  Event event;
  const auto kind = in.get<std::uint8_t>();
  event.kind = static_cast<Event::Kind>(kind);
  switch (event.kind) {
    case Event::Kind::move:
      event.x = number_in(in, -kFar, kFar, "the mouse's x");
      event.y = number_in(in, -kFar, kFar, "the mouse's y");
      return event;
    case Event::Kind::button:
      event.code = code_in(in, kButtons, "the mouse's button");
      event.on = flag_in(in, "down");
      return event;
    case Event::Kind::wheel:
      event.x = number_in(in, -kMostNotches, kMostNotches, "the wheel's x");
      event.y = number_in(in, -kMostNotches, kMostNotches, "the wheel's y");
      event.modifiers = static_cast<std::uint8_t>(in.get<std::uint8_t>() & 15);
      return event;
    case Event::Kind::key:
      event.code = code_in(in, kKeys, "the key");
      event.on = flag_in(in, "down");
      event.modifiers = static_cast<std::uint8_t>(in.get<std::uint8_t>() & 15);
      return event;
    case Event::Kind::text:
      event.text = text_in(in, "the typed text");
      return event;
    case Event::Kind::clipboard:
      event.text = text_in(in, "the clipboard's text");
      return event;
    case Event::Kind::focus:
      event.on = flag_in(in, "focused");
      return event;
    case Event::Kind::theme:
      event.on = flag_in(in, "dark");
      return event;
    case Event::Kind::resize:
      size_in(in, event);
      return event;
    case Event::Kind::leave:
      return event;
  }
  throw MessageError(fmt::format("there is no event {}", kind));
}

bool presses(const Event& e) { return e.kind == Event::Kind::button || e.kind == Event::Kind::key; }

}  // namespace

PageMessage read_message(std::string_view bytes) {
  if (bytes.size() > kMostInput)
    throw MessageError(fmt::format("the message has {} bytes, and the most is {}", bytes.size(), kMostInput));
  ByteReader in(bytes);
  PageMessage message;
  const auto kind = in.get<std::uint8_t>();
  message.kind = static_cast<FromPage>(kind);
  switch (message.kind) {
    case FromPage::hello: {
      message.number = in.get<std::uint32_t>();
      if (message.number != kVersion)
        throw MessageError(fmt::format("the page speaks version {}, the program version {}: reload the page",
                                       message.number, kVersion));
      Event size, theme;
      size.kind = Event::Kind::resize;
      size_in(in, size);
      theme.kind = Event::Kind::theme;
      theme.on = flag_in(in, "dark");
      message.events = {size, theme};
      break;
    }
    case FromPage::acknowledge:
      message.number = in.get<std::uint32_t>();
      break;
    case FromPage::events:
      message.number = in.get<std::uint32_t>();
      while (!in.done()) {
        if (message.events.size() == kMostEvents)
          throw MessageError(fmt::format("the message has more than {} events", kMostEvents));
        message.events.push_back(event_in(in));
      }
      break;
    case FromPage::layout:
      break;
    default:
      throw MessageError(fmt::format("there is no message of kind {}", kind));
  }
  if (!in.done()) throw MessageError("the message has more bytes than its kind");
  return message;
}

void EventQueue::add(std::vector<Event> events) {
  for (Event& event : events) {
    // While frames wait for the network, moves and turns of the wheel add up instead of queueing.
    if (!events_.empty() && event.kind == events_.back().kind) {
      Event& last = events_.back();
      if (event.kind == Event::Kind::move || event.kind == Event::Kind::resize) {
        last = std::move(event);
        continue;
      }
      if (event.kind == Event::Kind::wheel && event.modifiers == last.modifiers) {
        last.x = std::clamp(last.x + event.x, -kMostNotches, kMostNotches);
        last.y = std::clamp(last.y + event.y, -kMostNotches, kMostNotches);
        continue;
      }
    }
    events_.push_back(std::move(event));
  }
}

std::vector<Event> EventQueue::next() {
  std::vector<Event> out;
  bool pressed = false;
  while (!events_.empty()) {
    const Event& event = events_.front();
    // A place of its own for each press: what is pressed twice, or moved after it, belongs to the next frame.
    if (pressed && (event.kind == Event::Kind::move || event.kind == Event::Kind::wheel)) break;
    const auto again = [&](const Event& e) { return e.kind == event.kind && e.code == event.code; };
    if (presses(event) && std::any_of(out.begin(), out.end(), again)) break;
    if (event.kind == Event::Kind::wheel && std::any_of(out.begin(), out.end(), again)) break;
    // A paste is of the clipboard that came before it.
    if (event.kind == Event::Kind::clipboard && pressed) break;
    pressed = pressed || presses(event);
    out.push_back(std::move(events_.front()));
    events_.pop_front();
  }
  return out;
}

}  // namespace ridge::viz::web
