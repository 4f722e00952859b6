#include "serve/net/web_socket.hpp"

#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>

namespace ridge::net {

namespace {

namespace beast = boost::beast;
namespace websocket = beast::websocket;
using beast::error_code;
using Upgrade = beast::http::request<beast::http::string_body>;

constexpr std::size_t kLongestReason = 123;  // of RFC 6455

// Cut between characters.
std::string reason(std::string text) {
  if (text.size() <= kLongestReason) return text;
  std::size_t end = kLongestReason;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

class WebSocket : public Socket, public std::enable_shared_from_this<WebSocket> {
 public:
  WebSocket(std::shared_ptr<Server::Parts> parts, beast::tcp_stream stream, Crowd::Id id, Upgrade request)
      : parts_(std::move(parts)), ws_(std::move(stream)), id_(id), request_(std::move(request)) {}
  ~WebSocket() override {
    parts_->drop.erase(id_);
    parts_->crowd.remove(id_);
  }

  void accept(SocketOpened opened) {
    parts_->drop[id_] = [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->close("the server ends");
    };
    beast::get_lowest_layer(ws_).expires_never();
    const auto seconds = [](double s) { return std::chrono::milliseconds(static_cast<long>(s * 1000)); };
    ws_.set_option(websocket::stream_base::timeout{seconds(parts_->limits.header_seconds),
                                                   seconds(parts_->limits.socket_seconds), true});
    ws_.set_option(websocket::stream_base::decorator([fields = parts_->site.fields](websocket::response_type& r) {
      for (const auto& [name, value] : fields) r.set(name, value);
    }));
    ws_.read_message_max(parts_->limits.message_bytes);
    ws_.binary(true);
    ws_.async_accept(request_, [self = shared_from_this(), opened = std::move(opened)](error_code ec) {
      if (!ec) opened(self);
    });
  }

  void receive(std::function<void(std::optional<std::string>)> got) override {
    ws_.async_read(buffer_, [self = shared_from_this(), got = std::move(got)](error_code ec, std::size_t) {
      if (ec) return got(std::nullopt);
      std::string message = beast::buffers_to_string(self->buffer_.data());
      self->buffer_.consume(self->buffer_.size());
      if (self->too_many()) {
        self->close("too many messages in a second");
        return got(std::nullopt);
      }
      got(std::move(message));
    });
  }

  void send(std::string message, std::function<void(bool)> sent) override {
    sending_ = std::move(message);
    ws_.async_write(boost::asio::buffer(sending_),
                    [self = shared_from_this(), sent = std::move(sent)](error_code ec, std::size_t) { sent(!ec); });
  }

  void close(const std::string& why) override {
    if (std::exchange(closed_, true) || !ws_.is_open()) return;
    const websocket::close_reason told(websocket::close_code::policy_error, reason(why));
    ws_.async_close(told, [self = shared_from_this()](error_code) {});
  }

 private:
  bool too_many() {
    const auto now = std::chrono::steady_clock::now();
    if (now - second_ >= std::chrono::seconds(1)) second_ = now, count_ = 0;
    return ++count_ > parts_->limits.messages_a_second;
  }

  std::shared_ptr<Server::Parts> parts_;
  websocket::stream<beast::tcp_stream> ws_;
  beast::flat_buffer buffer_;
  Crowd::Id id_;
  Upgrade request_;
  std::string sending_;
  std::chrono::steady_clock::time_point second_{};
  std::size_t count_ = 0;
  bool closed_ = false;
};

}  // namespace

void accept_socket(const std::shared_ptr<Server::Parts>& parts, beast::tcp_stream stream, Crowd::Id id, Upgrade request,
                   SocketOpened opened) {
  std::make_shared<WebSocket>(parts, std::move(stream), id, std::move(request))->accept(std::move(opened));
}

}  // namespace ridge::net
