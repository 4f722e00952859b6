// Messages of the visualizer's page, as `ridge-viz --web` reads them: a byte of length, then a message, and so on.
#include "web/web_input.hpp"

#include <cmath>

#include "fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge::viz::web;
  EventQueue queue;
  while (size > 0) {
    const std::size_t length = std::min<std::size_t>(data[0], size - 1);
    try {
      const PageMessage message = read_message({reinterpret_cast<const char*>(data) + 1, length});
      for (const Event& e : message.events) {
        ridge::fuzz::promise(std::isfinite(e.x) && std::isfinite(e.y) && std::isfinite(e.ratio), "numbers are finite");
        ridge::fuzz::promise(e.kind != Event::Kind::key || e.code < kKeys, "a key is within ImGui's array");
        ridge::fuzz::promise(e.kind != Event::Kind::button || e.code < kButtons, "a button is within ImGui's array");
        ridge::fuzz::promise(e.text.find('\0') == std::string::npos, "a text has no NUL");
      }
      queue.add(message.events);
    } catch (const MessageError& e) {
      ridge::fuzz::promise(e.what()[0] != '\0', "a refusal has a reason");
    }
    data += length + 1;
    size -= length + 1;
  }
  while (!queue.empty()) ridge::fuzz::promise(!queue.next().empty(), "each frame takes an event");
  return 0;
}
