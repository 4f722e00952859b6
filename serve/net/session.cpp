// One connection: requests in turn, each judged by its headers, read, and answered by a worker.
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <optional>

#include "serve/net/event_stream.hpp"
#include "serve/net/server_parts.hpp"
#include "serve/net/web_socket.hpp"

namespace ridge::net {

namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using beast::error_code;
using Parser = http::request_parser<http::string_body>;

constexpr std::size_t kLongestTarget = 8 << 10;
constexpr auto kDrainTime = std::chrono::seconds(2);
constexpr std::size_t kDrained = 32 << 20;  // of a refused body, so that the client reads the answer
constexpr double kSlowest = 32 << 10;       // bytes a second that a client takes at least

std::chrono::milliseconds seconds(double s) { return std::chrono::milliseconds(static_cast<long>(s * 1000)); }

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(std::shared_ptr<Server::Parts> parts, boost::asio::ip::tcp::socket socket, Crowd::Id id)
      : parts_(std::move(parts)), stream_(std::move(socket)), id_(id) {
    error_code ec;
    remote_ = stream_.socket().remote_endpoint(ec).address().to_string();
    stream_.socket().set_option(boost::asio::ip::tcp::no_delay(true), ec);
  }
  ~Session() { leave(); }

  void start() {
    parts_->drop[id_] = [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->drop();
    };
    read_head();
  }

 private:
  void leave() {
    if (id_ == 0) return;
    parts_->drop.erase(id_);
    parts_->crowd.remove(id_);
  }

  // A session that ends with its server sends the answer that is under way.
  void drop() {
    last_ = true;
    if (!(parts_->ending && busy_)) stream_.close();
  }

  void busy(bool now) {
    busy_ = now;
    parts_->crowd.is_busy(id_, now);
  }

  void read_head() {
    if (last_ || parts_->ending) return stream_.close();
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(parts_->limits.header_bytes));
    parser_->body_limit(std::numeric_limits<std::uint64_t>::max());  // looked at behind the judgement
    request_ = {};
    stream_.expires_after(seconds(known_ ? parts_->limits.idle_seconds : parts_->limits.header_seconds));
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = shared_from_this()](error_code ec, std::size_t) { self->on_head(ec); });
  }

  // What the client's bytes are answered with where they are no request; false: nothing, it has gone.
  bool refuse_broken(error_code ec) {
    if (ec.category() != http::make_error_code(http::error::bad_method).category()) return false;
    if (ec == http::error::end_of_stream) return false;
    Response r;
    if (ec == http::error::body_limit) {
      r.status = 413, r.body = "The body is too large.\n";
    } else if (ec == http::error::header_limit || ec == http::error::buffer_overflow) {
      const bool target = parser_->get().target().size() > kLongestTarget || parser_->get().target().empty();
      r.status = target ? 414 : 431, r.body = target ? "The address is too long.\n" : "The headers are too long.\n";
    } else {
      r.status = 400, r.body = "This is no HTTP request.\n";
    }
    respond(r, true);
    return true;
  }

  void on_head(error_code ec) {
    if (ec) {
      if (!refuse_broken(ec)) stream_.close();
      return;
    }
    const auto& head = parser_->get();
    const auto text = [](auto view) { return std::string(view.data(), view.size()); };
    request_.method = text(head.method_string());
    const std::string target = text(head.target());
    const std::size_t mark = target.find('?');
    if (!target.empty() && target[0] == '/') request_.path = decoded(target.substr(0, mark)).value_or("");
    if (mark != std::string::npos) request_.query = target.substr(mark + 1);
    request_.remote = remote_;
    request_.upgrade = beast::websocket::is_upgrade(head);
    for (const auto& field : head) request_.fields.emplace_back(text(field.name_string()), text(field.value()));
    if (head.count(http::field::host) > 1)
      return respond({400, {}, "The request names two hosts.\n", {}, {}, {}}, true);
    if (target.size() > kLongestTarget) return respond({414, {}, "The address is too long.\n", {}, {}, {}}, true);
    Judged judged = parts_->site.judge(request_);
    if (judged.known && !std::exchange(known_, true)) parts_->crowd.is_known(id_);
    if (judged.refusal) return respond(*judged.refusal, true);
    if (parser_->content_length() && *parser_->content_length() > parts_->limits.body_bytes) {
      refuse_broken(http::error::body_limit);
      return;
    }
    parser_->body_limit(parts_->limits.body_bytes);
    stream_.expires_after(seconds(parts_->limits.body_seconds));
    if (beast::iequals(head[http::field::expect], "100-continue")) {
      static constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
      return boost::asio::async_write(
          stream_, boost::asio::buffer(go_on.data(), go_on.size()),
          [self = shared_from_this()](error_code e, std::size_t) { e ? self->stream_.close() : self->read_body(); });
    }
    read_body();
  }

  void read_body() {
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](error_code ec, std::size_t) {
      if (!ec) return self->answer();
      if (!self->refuse_broken(ec)) self->stream_.close();
    });
  }

  void answer() {
    busy(true);
    if (!request_.upgrade) request_.body = std::move(parser_->get().body());
    boost::asio::post(parts_->workers, [self = shared_from_this()]() mutable {
      auto response = std::make_shared<Response>();
      try {
        *response = self->parts_->site.answer(self->request_);
      } catch (const std::exception& e) {
        *response = {500, "text/plain; charset=utf-8", e.what(), {}, {}, {}};
      }
      boost::asio::io_context& loop = self->parts_->loop;
      boost::asio::post(loop, [self = std::move(self), response] {
        if (response->stream) return self->open_stream(*response);
        if (response->socket && self->request_.upgrade) return self->open_socket(*response);
        self->respond(*response, false);
      });
    });
  }

  template <class Message>
  void fill(Message& m, const Response& r) const {
    m.version(parser_->get().version() == 10 ? 10 : 11);
    m.result(static_cast<unsigned>(r.status));
    for (const auto& [name, value] : parts_->site.fields) m.set(name, value);
    for (const auto& [name, value] : r.fields) m.set(name, value);
    if (!r.type.empty()) m.set(http::field::content_type, r.type);
  }

  void respond(const Response& r, bool broken) {
    auto m = std::make_shared<http::response<http::string_body>>();
    fill(*m, r);
    last_ = last_ || broken || parts_->ending || !parser_->get().keep_alive();
    m->keep_alive(!last_);
    m->content_length(r.body.size());
    if (request_.method != "HEAD") m->body() = r.body;
    stream_.expires_after(seconds(parts_->limits.write_seconds + static_cast<double>(r.body.size()) / kSlowest));
    http::async_write(stream_, *m, [self = shared_from_this(), m, broken](error_code ec, std::size_t) {
      self->busy(false);
      if (ec) return self->stream_.close();
      if (!self->last_) return self->read_head();
      self->stream_.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, ec);
      if (broken) self->stream_.expires_after(kDrainTime), self->drain(kDrained);
    });
  }

  void drain(std::size_t left) {
    auto bytes = std::make_shared<std::array<char, 8192>>();
    stream_.async_read_some(boost::asio::buffer(*bytes),
                            [self = shared_from_this(), bytes, left](error_code ec, std::size_t n) {
                              if (!ec && n < left) self->drain(left - n);
                            });
  }

  void open_stream(const Response& r) {
    auto m = std::make_shared<http::response<http::empty_body>>();
    fill(*m, r);
    const bool chunked = m->version() == 11;
    m->keep_alive(chunked);
    m->chunked(chunked);
    auto writer = std::make_shared<http::response_serializer<http::empty_body>>(*m);
    stream_.expires_after(seconds(parts_->limits.write_seconds));
    http::async_write_header(
        stream_, *writer, [self = shared_from_this(), m, writer, chunked, r](error_code ec, std::size_t) {
          if (ec || self->parts_->ending) return self->stream_.close();
          stream_events(self->parts_, std::move(self->stream_), std::exchange(self->id_, 0), chunked, r.stream);
        });
  }

  void open_socket(const Response& r) {
    accept_socket(parts_, std::move(stream_), std::exchange(id_, 0), parser_->release(), r.socket);
  }

  std::shared_ptr<Server::Parts> parts_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  Request request_;
  std::string remote_;
  Crowd::Id id_;  // 0: the connection is a stream's or a WebSocket's now
  bool known_ = false, busy_ = false, last_ = false;
};

}  // namespace

void start_session(const std::shared_ptr<Server::Parts>& parts, boost::asio::ip::tcp::socket socket, Crowd::Id id) {
  std::make_shared<Session>(parts, std::move(socket), id)->start();
}

}  // namespace ridge::net
