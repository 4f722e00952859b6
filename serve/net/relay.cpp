#include "serve/net/relay.hpp"

#include <fcntl.h>
#include <signal.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include "grader/base/text.hpp"
#include "grader/sandbox/process.hpp"
#include "serve/net/child.hpp"

namespace ridge::net {

namespace {

using boost::system::error_code;
using Pipe = boost::asio::posix::stream_descriptor;

constexpr std::size_t kKeptErrors = 4096;
constexpr std::size_t kLastErrors = 128 << 10;         // read at most once stdout has ended: a pipe holds half of it
constexpr auto kPatience = std::chrono::seconds(30);   // in which the program takes a message
constexpr auto kLook = std::chrono::milliseconds(20);  // how often a killed program's death is looked for

// The loop does not wait for a killed program. Where the server ends first, init takes it. `kept` is held till then.
void reap(boost::asio::io_context& loop, pid_t pid, std::shared_ptr<void> kept) {
  if (has_ended(pid)) {
    end_child(pid);
    return;
  }
  auto timer = std::make_shared<boost::asio::steady_timer>(loop, kLook);
  timer->async_wait([&loop, pid, kept = std::move(kept), timer](error_code ec) {
    if (!ec) reap(loop, pid, kept);
  });
}

class Relay : public std::enable_shared_from_this<Relay> {
 public:
  Relay(boost::asio::io_context& loop, std::shared_ptr<Socket> socket, Child child, std::shared_ptr<void> kept)
      : loop_(loop),
        socket_(std::move(socket)),
        pid_(child.pid),
        in_(loop, child.in),
        out_(loop, child.out),
        err_(loop, child.err),
        slow_(loop),
        kept_(std::move(kept)) {}
  ~Relay() {
    if (pid_ >= 0) kill_child(pid_);  // the loop has gone
  }

  void start() {
    to_program();
    to_browser();
    read_errors();
  }

 private:
  void to_program() {
    socket_->receive([self = shared_from_this()](std::optional<std::string> message) {
      if (!message) return self->end("");
      if (self->deaf_) return self->to_program();  // the end of its stdout, or of the socket, tells
      self->input_ = framed(*message);
      self->slow_.expires_after(kPatience);
      self->slow_.async_wait([self](error_code ec) {
        if (!ec) self->end("the program takes no input");
      });
      boost::asio::async_write(self->in_, boost::asio::buffer(self->input_), [self](error_code ec, std::size_t) {
        self->slow_.cancel();
        self->deaf_ = bool(ec);
        if (self->pid_ >= 0) self->to_program();
      });
    });
  }

  void to_browser() {
    boost::asio::async_read(out_, boost::asio::buffer(size_), [self = shared_from_this()](error_code ec, std::size_t) {
      if (ec) return self->end_with_errors();
      std::size_t size = 0;
      for (std::size_t i = 0; i < self->size_.size(); ++i) size |= std::size_t{self->size_[i]} << (8 * i);
      if (size > kMostRelayed) return self->end("the program sent a damaged message");
      self->output_.resize(size);
      boost::asio::async_read(self->out_, boost::asio::buffer(self->output_), [self](error_code e, std::size_t) {
        if (e) return self->end_with_errors();
        self->socket_->send(std::move(self->output_),
                            [self](bool taken) { taken ? self->to_browser() : self->end(""); });
      });
    });
  }

  void read_errors() {
    err_.async_read_some(boost::asio::buffer(some_), [self = shared_from_this()](error_code ec, std::size_t n) {
      if (ec) return;
      self->keep_error(n);
      self->read_errors();
    });
  }

  void keep_error(std::size_t n) {
    errors_.append(some_.data(), n);
    if (errors_.size() > kKeptErrors) errors_.erase(0, errors_.size() - kKeptErrors);
  }

  void end_with_errors() {
    // What the program wrote last may not have been read yet.
    error_code ec;
    err_.non_blocking(true, ec);
    for (std::size_t all = 0; !ec && all < kLastErrors;) {
      const std::size_t n = err_.read_some(boost::asio::buffer(some_), ec);
      if (!ec) keep_error(n), all += n;
    }
    while (!errors_.empty() && errors_.back() == '\n') errors_.pop_back();
    const std::string line = printable(errors_.substr(errors_.rfind('\n') + 1));
    end(line.empty() ? "the program has ended" : line);
  }

  void end(const std::string& why) {
    if (pid_ < 0) return;
    const pid_t pid = std::exchange(pid_, -1);
    kill_child(pid);
    error_code ec;
    in_.close(ec), out_.close(ec), err_.close(ec);
    slow_.cancel();
    socket_->close(why);
    reap(loop_, pid, std::move(kept_));
  }

  static std::string framed(const std::string& message) {
    std::string out;
    for (int shift : {0, 8, 16, 24}) out += static_cast<char>((message.size() >> shift) & 255);
    return out + message;
  }

  boost::asio::io_context& loop_;
  std::shared_ptr<Socket> socket_;
  pid_t pid_;
  bool deaf_ = false;  // the program has closed its stdin
  Pipe in_, out_, err_;
  boost::asio::steady_timer slow_;
  std::shared_ptr<void> kept_;
  std::string input_, output_, errors_;
  std::array<unsigned char, 4> size_{};
  std::array<char, 4096> some_{};
};

}  // namespace

void relay(boost::asio::io_context& loop, const std::shared_ptr<Socket>& socket, const std::vector<std::string>& argv,
           std::shared_ptr<void> kept) {
  const Child child = start_child(argv, true, SIGKILL);
  if (child.pid < 0) return socket->close("the program cannot be started");
  std::make_shared<Relay>(loop, socket, child, std::move(kept))->start();
}

}  // namespace ridge::net
