#include "serve/net/event_stream.hpp"

#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <deque>

namespace ridge::net {

namespace {

namespace beast = boost::beast;
using beast::error_code;

constexpr auto kBeat = std::chrono::seconds(15);  // a comment keeps proxies from ending a quiet stream

class OpenStream;

// What other threads hold of a stream. They never hold the stream itself, so that it is destroyed on the loop.
class Handle : public EventStream {
 public:
  Handle(std::shared_ptr<Server::Parts> parts, std::weak_ptr<OpenStream> stream)
      : parts_(std::move(parts)), stream_(std::move(stream)) {}
  void send(std::string text) override;

 private:
  std::shared_ptr<Server::Parts> parts_;
  std::weak_ptr<OpenStream> stream_;
};

class OpenStream : public std::enable_shared_from_this<OpenStream> {
 public:
  OpenStream(std::shared_ptr<Server::Parts> parts, beast::tcp_stream stream, Crowd::Id id, bool chunked,
             StreamOpened opened)
      : parts_(std::move(parts)),
        stream_(std::move(stream)),
        beat_(parts_->loop),
        id_(id),
        chunked_(chunked),
        opened_(std::move(opened)) {}
  ~OpenStream() { leave(); }

  void start() {
    parts_->drop[id_] = [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->end();
    };
    stream_.expires_never();
    handle_ = std::make_shared<Handle>(parts_, weak_from_this());
    opened_(handle_);
    read();
    beat();
  }

  void push(std::string text) {
    if (ended_ || text.empty()) return;
    waiting_ += text.size();
    if (waiting_ > parts_->limits.stream_bytes) return end();  // its browser asks again
    queue_.push_back(std::move(text));
    if (queue_.size() == 1) write();
  }

 private:
  void leave() {
    parts_->drop.erase(id_);
    parts_->crowd.remove(id_);
  }

  void end() {
    if (std::exchange(ended_, true)) return;
    stream_.close();
    beat_.cancel();
    leave();
  }

  // The client sends nothing more; its end is noticed.
  void read() {
    stream_.async_read_some(boost::asio::buffer(ignored_), [self = shared_from_this()](error_code ec, std::size_t) {
      if (ec) return self->end();
      self->stream_.expires_never();
      self->read();
    });
  }

  void beat() {
    beat_.expires_after(kBeat);
    beat_.async_wait([self = shared_from_this()](error_code ec) {
      if (ec || self->ended_) return;
      if (self->queue_.empty()) self->push(":\n\n");
      self->beat();
    });
  }

  void write() {
    stream_.expires_after(std::chrono::milliseconds(static_cast<long>(parts_->limits.write_seconds * 1000)));
    const auto written = [self = shared_from_this()](error_code ec, std::size_t) {
      if (ec || self->ended_) return self->end();
      self->waiting_ -= self->queue_.front().size();
      self->queue_.pop_front();
      if (!self->queue_.empty()) self->write();
    };
    const auto text = boost::asio::buffer(queue_.front());
    if (chunked_)
      boost::asio::async_write(stream_, beast::http::make_chunk(boost::asio::const_buffer(text)), written);
    else
      boost::asio::async_write(stream_, text, written);
  }

  std::shared_ptr<Server::Parts> parts_;
  beast::tcp_stream stream_;
  boost::asio::steady_timer beat_;
  Crowd::Id id_;
  bool chunked_, ended_ = false;
  StreamOpened opened_;
  std::shared_ptr<Handle> handle_;
  std::deque<std::string> queue_;
  std::size_t waiting_ = 0;  // bytes of the queue
  std::array<char, 512> ignored_{};
};

void Handle::send(std::string text) {
  boost::asio::post(parts_->loop, [weak = stream_, text = std::move(text)]() mutable {
    if (const auto self = weak.lock()) self->push(std::move(text));
  });
}

}  // namespace

void stream_events(const std::shared_ptr<Server::Parts>& parts, beast::tcp_stream stream, Crowd::Id id, bool chunked,
                   StreamOpened opened) {
  std::make_shared<OpenStream>(parts, std::move(stream), id, chunked, std::move(opened))->start();
}

}  // namespace ridge::net
