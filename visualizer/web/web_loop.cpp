#include "web/web_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <nlohmann/json.hpp>
#include <utility>

#include "web/deflate.hpp"
#include "web/draw_stream.hpp"
#include "web/imgui_web.hpp"
#include "web/pipe.hpp"
#include "web/web_input.hpp"
#include "web/wire.hpp"

namespace ridge::viz::web {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

constexpr int kSettleFrames = 3;            // after input: ImGui needs one for hover and one for layout
constexpr double kFramePause = 1.0 / 60;    // seconds between frames of something that moves
constexpr double kSettlePause = 1.0 / 250;  // between those that settle
constexpr double kWatchPause = 1;           // between looks at the files
constexpr int kLevel = 4;                   // zlib's: 6 saves another 5%, and takes three times as long
// Frames that the page has not drawn yet. More than one, so that a line of 50 ms carries more than 20 a second; few
// bytes, so that none waits behind others.
constexpr std::size_t kMostUnseen = 4, kMostUnseenBytes = 64 << 10;
constexpr std::size_t kMostWaiting = 16 << 10;  // events

double seconds_since(Clock::time_point then) { return std::chrono::duration<double>(Clock::now() - then).count(); }

std::string hello(const std::string& error) {
  json text{{"protocol", "ridge.viz"}, {"version", kVersion}, {"most_input", kMostInput}, {"most_output", kMostOutput}};
  if (!error.empty()) text["error"] = error;
  return text.dump(-1, ' ', false, json::error_handler_t::replace);
}

class Session {
 public:
  Session(const WebProgram& program, int in, int out) : program_(program), pipe_(in, out) {}

  int run() {
    pipe_.send(hello(""));
    try {
      while (true) {
        pipe_.wait(pause());
        if (pipe_.ended()) return 0;
        while (const auto bytes = pipe_.next()) take(read_message(*bytes));
        if (!greeted_) continue;
        if (seconds_since(watched_) >= kWatchPause) {
          watched_ = Clock::now();
          if (program_.poll()) wanted_ = kSettleFrames;
        }
        if (seconds_since(drawn_) >= program_.wake_after()) wanted_ = std::max(wanted_, 1);
        if (wanted_ > 0 && may_send() && seconds_since(drawn_) >= gap()) draw();
      }
    } catch (const MessageError& e) {
      fmt::print(stderr, "ridge-viz: a message of the page was refused: {}\n", e.what());
      send(FromProgram::error, e.what());
      return 2;
    }
  }

 private:
  // Seconds to sleep at most.
  double pause() const {
    if (!greeted_) return INFINITY;
    double least = kWatchPause - seconds_since(watched_);
    if (may_send()) {
      if (wanted_ > 0) least = std::min(least, gap() - seconds_since(drawn_));
      least = std::min(least, std::max(program_.wake_after(), kFramePause) - seconds_since(drawn_));
    }
    return std::max(least, 0.0);
  }

  double gap() const { return !queue_.empty() ? 0 : fresh_ ? 0 : settling_ ? kSettlePause : kFramePause; }

  bool may_send() const {
    std::size_t bytes = 0;
    for (const auto& [number, size] : unseen_) bytes += size;
    return unseen_.empty() || (unseen_.size() < kMostUnseen && bytes < kMostUnseenBytes);
  }

  void take(PageMessage message) {
    if ((message.kind == FromPage::hello) == greeted_)
      throw MessageError(greeted_ ? "a second hello" : "the first message is no hello");
    switch (message.kind) {
      case FromPage::hello:
      case FromPage::events:
        for (const Event& event : message.events)
          if (event.kind == Event::Kind::theme) program_.look().scheme = event.on ? Scheme::dark : Scheme::light;
        greeted_ = true;
        if (message.kind == FromPage::events) input_ = message.number;
        queue_.add(std::move(message.events));
        if (queue_.size() > kMostWaiting)
          throw MessageError(fmt::format("more than {} events wait for a frame", kMostWaiting));
        wanted_ = kSettleFrames;
        fresh_ = true;
        break;
      case FromPage::acknowledge:
        if (message.number >= number_) throw MessageError(fmt::format("frame {} was never sent", message.number));
        while (!unseen_.empty() && unseen_.front().first <= message.number) unseen_.pop_front();
        break;
      case FromPage::layout:
        send(FromProgram::layout, program_.layout());
        break;
    }
  }

  void draw() {
    const auto events = queue_.next();
    const double seconds = seconds_since(drawn_);
    drawn_ = Clock::now();
    const Theme& theme = imgui_.begin(events, program_.look(), static_cast<float>(seconds));
    program_.frame(theme, ImGui::GetIO().DisplaySize.x, ImGui::GetIO().DisplaySize.y);
    DrawFrame frame = imgui_.end();
    settling_ = fresh_ || settling_;
    fresh_ = false;
    if (queue_.empty()) --wanted_;
    if (wanted_ == 0) settling_ = false;
    if (const auto text = imgui_.copied()) send(FromProgram::clipboard, *text);
    if (const auto file = program_.download()) {
      ByteWriter out;
      out.put_text(file->name);
      out.put_bytes(file->content);
      send(FromProgram::download, out.text());
    }
    if (auto status = program_.status(); status != status_) send(FromProgram::status, status_ = std::move(status));
    std::size_t sent = 0;
    for (Texture& t : imgui_.textures()) textures_.replace(std::move(t));
    if (stream_.same(frame)) return;
    for (const auto& message : textures_.pieces(frame)) sent += send(FromProgram::texture, message);
    sent += send(FromProgram::frame, stream_.encode(std::move(frame), number_, input_));
    unseen_.emplace_back(number_++, sent);
  }

  // Returns the number of bytes that it takes.
  std::size_t send(FromProgram kind, std::string_view body) {
    ByteWriter head;
    head.put(static_cast<std::uint32_t>(body.size() + 1));
    head.put(kind);
    const std::string bytes = deflate_.add(head.take() += body);
    pipe_.send(bytes);
    return bytes.size();
  }

  const WebProgram& program_;
  Pipe pipe_;
  ImGuiWeb imgui_;
  DrawStream stream_;
  TextureStream textures_;
  Deflate deflate_{kLevel};
  EventQueue queue_;
  bool greeted_ = false;
  int wanted_ = 0;                         // frames to draw
  bool fresh_ = false, settling_ = false;  // input that no frame has shown; frames after it
  Clock::time_point drawn_ = Clock::now(), watched_ = Clock::now();
  std::uint32_t number_ = 1, input_ = 0;
  std::deque<std::pair<std::uint32_t, std::size_t>> unseen_;  // numbers and bytes
  std::string status_;
};

}  // namespace

int run_web(const WebProgram& program, int in, int out) { return Session(program, in, out).run(); }

void refuse_web(const std::string& why, int out) { Pipe(-1, out).send(hello(why)); }

}  // namespace ridge::viz::web
