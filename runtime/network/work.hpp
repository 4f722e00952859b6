// What a GPU does for a part of a step: seconds by kind, and messages.
#pragma once

namespace ridge::network {

// Seconds by kind. `exposed` is communication that nothing hides; `messages`, of which it is a part, all that the
// tensor group exchanges; `sent` are its bytes, of one rank.
struct Work {
  double products = 0, attention = 0, elementwise = 0, exposed = 0, messages = 0, sent = 0;
  double kernels() const { return products + attention + elementwise; }
  double seconds() const { return kernels() + exposed; }
  // Adds so many times another one.
  Work& add(const Work& o, double times = 1) {
    products += times * o.products, attention += times * o.attention, elementwise += times * o.elementwise;
    exposed += times * o.exposed, messages += times * o.messages, sent += times * o.sent;
    return *this;
  }
};
inline Work operator+(Work a, const Work& b) { return a.add(b); }

}  // namespace ridge::network
