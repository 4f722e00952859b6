// What the page sends: messages as events. A message that is not of the protocol is refused with a reason.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "web/wire.hpp"

namespace ridge::viz::web {

struct Event {
  enum class Kind : std::uint8_t { move = 1, button, wheel, key, text, focus, resize, theme, clipboard, leave };
  Kind kind{};
  float x = 0, y = 0;          // place, wheel's notches, or the canvas's size; CSS pixels
  float ratio = 1;             // framebuffer pixels for each CSS pixel
  std::uint16_t code = 0;      // the mouse's button, or GLFW's number of the key
  bool on = false;             // down, focused, or dark
  std::uint8_t modifiers = 0;  // kControl, ...
  std::string text;
};
constexpr std::uint8_t kControl = 1, kShift = 2, kAlt = 4, kSuper = 8;
constexpr std::uint16_t kKeys = 512, kButtons = 5;

struct PageMessage {
  FromPage kind{};
  std::uint32_t number = 0;   // hello: the version; acknowledge: the frame's; events: its own
  std::vector<Event> events;  // of a hello: size and theme
};

// Throws MessageError.
PageMessage read_message(std::string_view bytes);

// Events that wait for a frame. ImGui sees a press and its release in different frames, and a press where the mouse
// was.
class EventQueue {
 public:
  void add(std::vector<Event> events);
  bool empty() const { return events_.empty(); }
  std::size_t size() const { return events_.size(); }
  // The events of the next frame, in order.
  std::vector<Event> next();

 private:
  std::deque<Event> events_;
};

}  // namespace ridge::viz::web
