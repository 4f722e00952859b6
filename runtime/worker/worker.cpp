// The worker process: the student's code behind a message loop. It gets inputs and a place to put outputs; it has no
// clock, no expected answer and no verdict to give.
#include <cuda_runtime.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "../files/client.hpp"
#include "../files/here.hpp"
#include "../files/threads.hpp"
#include "../lab/ask.hpp"
#include "../lab/call.hpp"
#include "../lab/rank.hpp"
#include "backend.hpp"
#include "initialisers.hpp"
#include "packet.hpp"
#include "rank_end.hpp"

namespace {

using namespace ridge;

struct Packet {
  protocol::Header header;
  std::vector<char> payload;
  int fd = -1;
};

bool receive(Packet& packet) {
  using Clock = std::chrono::steady_clock;
  static std::vector<char> bytes(protocol::kMaxPacket);
  packet.fd = -1;
  auto look = [&](int flags) {
    return protocol::receive_packet(protocol::kSocket, bytes.data(), bytes.size(), packet.fd, flags);
  };
  ssize_t n = -1;
  const auto until = Clock::now() + std::chrono::duration<double>(worker::stays_awake());
  while (n < 0 && Clock::now() < until) n = look(MSG_DONTWAIT);
  if (n < 0) n = look(0);
  if (n < static_cast<ssize_t>(sizeof(protocol::Header))) return false;
  std::memcpy(&packet.header, bytes.data(), sizeof packet.header);
  packet.payload.assign(bytes.begin() + sizeof packet.header, bytes.begin() + n);
  return packet.header.magic == protocol::kMagic && packet.header.version == protocol::kVersion &&
         packet.header.payload == packet.payload.size();
}

template <std::size_t N>
void put(char (&to)[N], const std::string& text) {
  std::snprintf(to, N, "%s", text.c_str());
}

struct Mapped {
  void* pointer;
  std::uint64_t bytes;
};
std::map<std::uint32_t, Mapped> buffers;
cudaStream_t stream;
ridge_rank rank;
std::atomic<std::uint64_t> answers = 0;  // the question that is answered next; any thread may end the rank

void add_buffer(const Packet& packet, protocol::Done& done) {
  protocol::Buffer buffer;
  if (packet.payload.size() != sizeof buffer || packet.fd < 0) {
    done.status = protocol::Status::bad_request;
    return;
  }
  std::memcpy(&buffer, packet.payload.data(), sizeof buffer);
  std::string error;
  void* p = worker::map_buffer(packet.fd, buffer, error);
  close(packet.fd);
  if (p == nullptr) {
    done.status = protocol::Status::bad_request;
    put(done.what, "cannot map a buffer");
    put(done.detail, error);
    return;
  }
  buffers[buffer.id] = {p, buffer.bytes};
}

void* pointer_of(std::uint32_t id) {
  auto at = buffers.find(id);
  return at == buffers.end() ? nullptr : at->second.pointer;
}

// Waits for the whole device and says how the work has ended.
void finish(protocol::Done& done) {
  cudaError_t first = cudaSuccess;
  const std::string why = worker::why_refused(first);
  cudaError_t launched = cudaGetLastError();
  done.device_seconds = worker::stop_clock(stream);
  cudaError_t finished = cudaDeviceSynchronize();
  cudaError_t error = launched != cudaSuccess ? launched : finished;
  if (worker::describe_fault(done)) return;
  if (error != cudaSuccess) {
    if (first != cudaSuccess) error = first;
    done.status = protocol::Status::cuda_error;
    done.code = static_cast<int>(error);
    put(done.what, cudaGetErrorName(error));
    put(done.detail, why.empty() ? cudaGetErrorString(error) : why);
  }
}

// Runs the calls in order on one stream and waits for the whole device, so that no work is left behind.
void run(const Packet& packet, protocol::Done& done) {
  protocol::Run request;
  if (packet.payload.size() < sizeof request) {
    done.status = protocol::Status::bad_request;
    return;
  }
  std::memcpy(&request, packet.payload.data(), sizeof request);
  if (request.calls > protocol::kMaxCalls ||
      packet.payload.size() != sizeof request + request.calls * sizeof(protocol::Call)) {
    done.status = protocol::Status::bad_request;
    return;
  }
  worker::set_recording(request.record != 0, request.record == 2);
  worker::set_sanitizing(request.sanitize != 0);
  worker::start_clock(stream, request.calls);
  for (std::uint32_t i = 0; i < request.calls; ++i) {
    protocol::Call message;
    std::memcpy(&message, packet.payload.data() + sizeof request + i * sizeof message, sizeof message);
    ridge_call call{};
    std::memcpy(call.task, message.task, sizeof call.task - 1);
    for (int k = 0; k < 8; ++k) call.size[k] = message.size[k];
    for (int k = 0; k < 4; ++k) {
      call.in[k] = pointer_of(message.in[k]);
      call.out[k] = pointer_of(message.out[k]);
    }
    if (message.workspace != 0) {
      call.workspace = pointer_of(message.workspace);
      call.workspace_bytes = buffers[message.workspace].bytes;
    }
    call.stream = stream;
    call.rank = &rank;
    if (i > 0) worker::mark_call();
    message.topology[sizeof message.topology - 1] = 0;
    worker::set_links(message.topology, static_cast<int>(message.node), rank.ranks);
    if (i > 0 && i + 1 == request.calls) {
      if (request.sanitize != 0) cudaDeviceSynchronize();
      worker::before_last_call();
    }
    worker::call_begins(stream);
    if (!ridge_entry(call)) {
      done.status = protocol::Status::bad_request;
      put(done.what, "unknown task");
      put(done.detail, std::string("entry.cu has no task '") + call.task + "'");
      return;
    }
    worker::call_ends(stream);
  }
  finish(done);
}

// The descriptor to send: a trace or launch records, as the request says; -1 for none.
int answer_to_run(const Packet& packet, protocol::Done& done) {
  protocol::Run request;
  if (packet.payload.size() >= sizeof request) std::memcpy(&request, packet.payload.data(), sizeof request);
  if (request.trace == 0) return worker::take_launches();
  std::string error;
  int fd = worker::take_trace(error);
  if (fd < 0 && done.status == protocol::Status::ok) {
    done.status = protocol::Status::bad_request;
    put(done.what, "no trace of the device work:");
    put(done.detail, error);
  }
  return fd;
}

// The device work of another process, in place of the calls.
void replay(const Packet& packet, protocol::Done& done) {
  protocol::Replay request;
  if (packet.payload.size() != sizeof request || packet.fd < 0) {
    done.status = protocol::Status::bad_request;
    return;
  }
  std::memcpy(&request, packet.payload.data(), sizeof request);
  request.topology[sizeof request.topology - 1] = 0;
  worker::set_links(request.topology, static_cast<int>(request.node), rank.ranks);
  const bool repeated = worker::replay(packet.fd, request, done);
  close(packet.fd);
  if (repeated) finish(done);
}

}  // namespace

void worker::end_rank(protocol::Gate gate, Cause cause, bool follows, const std::string& text) {
  protocol::Report report;
  report.gate = gate;
  report.cause = static_cast<std::uint32_t>(cause);
  report.follows = follows ? 1 : 0;
  put(report.text, text);
  std::fflush(stdout);
  std::fflush(stderr);
  protocol::send_packet(protocol::kSocket, protocol::Type::report, answers, &report, sizeof report);
  _exit(86);
}

namespace {
std::recursive_mutex turns;  // one question at a time

// Sends a question and waits for the packet that answers it.
template <class Answer>
Answer asked(protocol::Type type, const void* question, std::size_t bytes, protocol::Type answered, int& fd) {
  struct {
    protocol::Header header;
    Answer answer;
  } packet;
  static_assert(sizeof packet == sizeof(protocol::Header) + sizeof(Answer));
  if (!protocol::send_packet(protocol::kSocket, type, answers, question, bytes)) _exit(0);
  const ssize_t n = protocol::receive_packet(protocol::kSocket, &packet, sizeof packet, fd);
  if (n != static_cast<ssize_t>(sizeof packet) || packet.header.type != answered) _exit(0);  // no judge
  return packet.answer;
}

// The window of files: the judge's memory, or where the task has no files nobody's.
char* files_window = nullptr;
bool files_in_place = false;  // the machine's own, as the judge says

// `fd`: of the file that the judge has opened; -1: none.
ridge::files::Reply file_call(const ridge::files::Request& request, int& fd) {
  const auto reply =
      asked<ridge::files::Reply>(protocol::Type::file, &request, sizeof request, protocol::Type::filed, fd);
  if (files_window == nullptr) {
    const int kind = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* p = mmap(nullptr, ridge::files::kMostBytes, PROT_READ | PROT_WRITE, kind, fd, 0);
    if (p == MAP_FAILED) _exit(0);
    files_window = static_cast<char*>(p);
    if (fd >= 0) close(fd);
    fd = -1;
  }
  files_in_place = reply.in_place != 0;
  return reply;
}
}  // namespace

extern "C" char* ridge_files_window() {
  int none = -1;
  if (files_window == nullptr) file_call({}, none);
  return files_window;
}
extern "C" void ridge_files_call(const ridge::files::Request* request, ridge::files::Reply* reply) {
  ridge_files_window();
  ridge::files::Request r = *request;
  r.rank = ridge::files::playing();
  if (files_in_place && ridge::files::request_here(r, *reply)) return;
  int fd = -1;
  *reply = file_call(r, fd);
  if (files_in_place && r.op == ridge::files::Op::open && reply->result == 0) reply->result = fd >= 0 ? fd : -EIO;
  worker::issue_file_request(*reply, r);
}
extern "C" bool ridge_files_in_place() {
  ridge_files_window();
  return files_in_place;
}
extern "C" unsigned long long ridge_files_work(int core, ridge::files::Work work, const void* from, void* to,
                                               std::size_t bytes, long long number) {
  return ridge::files::start_on_thread_of(core, [=]() -> std::int64_t { return work(from, to, bytes, number), 0; });
}
extern "C" void ridge_files_wait(unsigned long long ticket) { ridge::files::result_of(ticket); }
extern "C" void ridge_files_lock(bool on) { on ? turns.lock() : turns.unlock(); }

extern "C" bool ridge_ask(const long long* question, double* answer) {
  std::lock_guard turn(turns);
  protocol::Ask ask;
  for (int k = 0; k < 8; ++k) ask.value[k] = question[k];
  int fd = -1;
  const auto told = asked<protocol::Told>(protocol::Type::ask, &ask, sizeof ask, protocol::Type::told, fd);
  if (fd >= 0) close(fd);
  for (int k = 0; k < 4; ++k) answer[k] = told.value[k];
  return told.refused == 0;
}

// "trace", "rank 2 of 4"
void join_ranks(int argc, char** argv) {
  for (int i = 1; i + 3 < argc; ++i)
    if (std::strcmp(argv[i], "rank") == 0) {
      rank.rank = std::atoi(argv[i + 1]);
      rank.ranks = std::atoi(argv[i + 3]);
      rank.communicator = worker::join_ranks(protocol::kMessages, rank.rank, rank.ranks);
    }
}

// "run", "trace": a trace is kept too. "replay": nothing of the submission's host code runs in this process. (A second
// word lets its initialisers run all the same, "host-access" lets host code follow pointers to device memory, and
// "writable-code" leaves code open to changes: the judge's tests show what that would open.)
int main(int argc, char** argv) {
  const bool replays = argc > 1 && std::strcmp(argv[1], "replay") == 0;
  worker::set_tracing(argc > 1 && std::strcmp(argv[1], "trace") == 0);  // from the first allocation on
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (std::strcmp(argv[argc - 1], "writable-code") != 0) worker::seal_code();
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "host-access") == 0) worker::allow_host_access();
  if (!replays || (argc > 2 && std::strcmp(argv[2], "with-initialisers") == 0)) worker::run_initialisers();
  join_ranks(argc, argv);
  protocol::Hello hello;
  hello.pid = static_cast<std::uint32_t>(getpid());
  worker::start(hello);
  cudaError_t error = replays ? cudaSuccess : cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (error != cudaSuccess) {
    std::fprintf(stderr, "ridge worker: no stream: %s\n", cudaGetErrorString(error));
    return 3;
  }
  protocol::send_packet(protocol::kSocket, protocol::Type::hello, 0, &hello, sizeof hello);
  Packet packet;
  while (receive(packet)) {
    answers = packet.header.sequence;
    protocol::Done done;
    int launches = -1;
    switch (packet.header.type) {
      case protocol::Type::buffer:
        add_buffer(packet, done);
        break;
      case protocol::Type::run:
        if (replays) {  // a hostile submission may not even ask
          done.status = protocol::Status::bad_request;
          break;
        }
        run(packet, done);
        launches = answer_to_run(packet, done);
        break;
      case protocol::Type::replay:
        replay(packet, done);
        launches = worker::take_launches();
        break;
      case protocol::Type::quit:
        _exit(0);
      default:
        done.status = protocol::Status::bad_request;
    }
    if (!protocol::send_packet(protocol::kSocket, protocol::Type::done, packet.header.sequence, &done, sizeof done,
                               launches))
      break;
    if (launches >= 0) close(launches);
  }
  _exit(0);  // the judge is gone; destructors of unknown code have nothing to add
}
