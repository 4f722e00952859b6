// The worker on the SIMT emulator.
#include <cuda_runtime.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "../collectives/judged.hpp"
#include "../simt/simt.hpp"
#include "backend.hpp"
#include "file_time.hpp"
#include "rank_end.hpp"

extern "C" void __ridge_host_library();  // src/hooks/hooks.cpp

namespace ridge::worker {

namespace {
bool recording = false;
simt::Transfers transfers;  // the last replay's
simt::Schedule schedule;
std::string race;                      // between operations of that replay
std::optional<std::size_t> allocated;  // before the last call
struct Alive {
  simt::LiveHandles cuda;
  std::size_t communicators, requests;
};
Alive now_alive() { return {simt::live_handles(), ridge_live_communicators(), ridge_open_requests()}; }
std::optional<Alive> alive;   // the same
std::uint64_t own_order = 2;  // seed of the order of lanes and blocks, drawn above 1: each rank has another one
constexpr std::size_t kMostParts = 256;  // in one exchange
constexpr std::size_t kMostWaits = 64;   // of one operation, for other streams

template <std::size_t N>
void put(char (&to)[N], const std::string& text) {
  std::snprintf(to, N, "%s", text.c_str());
}

int in_memory(const char* name, const char* data, std::size_t bytes) {
  int fd = memfd_create(name, MFD_CLOEXEC);
  for (std::size_t at = 0; fd >= 0 && at < bytes;) {
    ssize_t n = write(fd, data + at, bytes - at);
    if (n <= 0) break;
    at += static_cast<std::size_t>(n);
  }
  return fd;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text)
    if (static_cast<unsigned char>(c) >= ' ' && c != '"' && c != '\\') out += c;
  return out + "\"";
}

std::string parts_json(const std::vector<simt::Exchange::Part>& parts) {
  if (parts.empty()) return "";
  char link[64];
  std::string out = ",\"parts\":[";
  for (std::size_t i = 0; i < parts.size() && i < kMostParts; ++i) {
    std::snprintf(link, sizeof link, "%.9g,%.9g", parts[i].latency, parts[i].seconds_per_byte);
    out += (i == 0 ? "[" : ",[") + std::to_string(parts[i].peer) + "," + (parts[i].sent ? "1," : "0,") +
           std::to_string(parts[i].bytes) + "," + std::to_string(parts[i].channel) + "," +
           std::to_string(parts[i].number) + "," + link + "]";
  }
  return out + "]";
}

std::string waits_json(const std::vector<std::size_t>& waits) {
  if (waits.empty()) return "";
  std::string out = ",\"waits\":[";
  for (std::size_t i = 0; i < waits.size() && i < kMostWaits; ++i)
    out += (i == 0 ? "" : ",") + std::to_string(waits[i]);
  return out + "]";
}

// [number, resource, seconds, start, end]; all of them, for the judge compares them with its own.
std::string file_parts_json(const std::vector<simt::Schedule::FilePart>& parts) {
  if (parts.empty()) return "";
  char text[160];
  std::string out = ",\"file_parts\":[";
  for (const auto& p : parts) {
    std::snprintf(text, sizeof text, "%s[%llu,%d,%.12g,%.12g,%.12g]", out.back() == '[' ? "" : ",",
                  static_cast<unsigned long long>(p.number), p.resource, p.seconds, p.start, p.end);
    out += text;
  }
  return out + "]";
}

// Seconds of virtual time.
std::string schedule_json(const simt::Schedule& s) {
  char number[64];
  auto seconds = [&](double value) {
    std::snprintf(number, sizeof number, "%.9g", value);
    return std::string(number);
  };
  std::string out = "\"schedule\":{\"seconds\":" + seconds(s.seconds) + ",\"launches\":" + std::to_string(s.launches) +
                    ",\"left_out\":" + std::to_string(s.left_out) + file_parts_json(s.file_parts) +
                    (s.stream >= 0 ? ",\"stream\":" + std::to_string(s.stream) : std::string()) +
                    ",\"graphs_made\":" + std::to_string(s.graphs_made) +
                    ",\"graphs_changed\":" + std::to_string(s.graphs_changed) + ",\"items\":[";
  auto shape = [](const unsigned(&d)[3]) {
    return "[" + std::to_string(d[0]) + "," + std::to_string(d[1]) + "," + std::to_string(d[2]) + "]";
  };
  for (std::size_t i = 0; i < s.items.size(); ++i) {
    const auto& item = s.items[i];
    std::string place;  // of a copy's memory on the host
    if (item.pageable) place += ",\"pageable\":1";
    if (item.source > 0) place += ",\"source\":" + std::to_string(item.source);
    if (item.unwaited) place += ",\"unwaited\":1";
    out += (i == 0 ? "" : ",") + ("{\"name\":" + quoted(item.name)) + ",\"kind\":" + quoted(item.kind) +
           ",\"stream\":" + std::to_string(item.stream) + ",\"issued\":" + seconds(item.issued) +
           ",\"start\":" + seconds(item.start) + ",\"end\":" + seconds(item.end) +
           ",\"bytes\":" + std::to_string(item.bytes) + ",\"grid\":" + shape(item.grid) +
           ",\"block\":" + shape(item.block) + ",\"graph\":" + std::to_string(item.graph) + parts_json(item.parts) +
           waits_json(item.waits) + place + "}";
  }
  out += "],\"calls\":[";
  for (std::size_t i = 0; i < s.calls.size(); ++i)
    out += (i == 0 ? "" : ",") + ("{\"name\":" + quoted(s.calls[i].name)) + ",\"start\":" + seconds(s.calls[i].start) +
           ",\"end\":" + seconds(s.calls[i].end) + "}";
  out += "],\"streams\":[";
  const char* between = "";
  for (const auto& [stream, made] : s.streams) {
    out += between + ("{\"stream\":" + std::to_string(stream)) + ",\"name\":" + quoted(made.name) +
           ",\"made_at\":" + std::to_string(made.made_at) + ",\"nth\":" + std::to_string(made.nth) + "}";
    between = ",";
  }
  return out + "]}";
}

std::uint32_t number(Cause cause) { return static_cast<std::uint32_t>(cause); }

std::string count_of(std::size_t n, const char* what) {
  return n == 0 ? "" : std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

// Two calls with the same sizes: what a submission keeps from the first to the second is no leak.
bool describe_handles(protocol::Done& done) {
  if (!alive) return false;
  const Alive now = now_alive();
  auto more = [](std::size_t a, std::size_t b) { return a > b ? a - b : 0; };
  std::string made;
  for (const std::string& kind : {count_of(more(now.cuda.streams, alive->cuda.streams), "stream"),
                                  count_of(more(now.cuda.events, alive->cuda.events), "event"),
                                  count_of(more(now.cuda.graphs, alive->cuda.graphs), "graph"),
                                  count_of(more(now.communicators, alive->communicators), "communicator")})
    if (!kind.empty()) made += (made.empty() ? "" : " and ") + kind;
  if (const std::size_t requests = more(now.requests, alive->requests); made.empty() && requests > 0) {
    done.status = protocol::Status::fault;
    done.gate = protocol::Gate::memory;
    done.cause = number(Cause::request_leak);
    put(done.what, "leak of MPI requests");
    put(done.detail, "every call leaves " + count_of(requests, "request") +
                         " that nobody waits for: MPI_Wait or MPI_Waitall says when a buffer may be used again");
    return true;
  }
  if (made.empty()) return false;
  const std::string memory = count_of(more(now.cuda.page_locked, alive->cuda.page_locked), "buffer");
  if (!memory.empty()) made += " and " + memory + " of page-locked memory";
  done.status = protocol::Status::fault;
  done.gate = protocol::Gate::memory;
  done.cause = number(Cause::handle_leak);
  put(done.what, "leak of streams, events, graphs or communicators");
  put(done.detail,
      "every call makes " + made +
          " that nobody destroys or frees: make them once and keep them (a function-local static), or destroy "
          "them before the call returns");
  return true;
}

bool describe_leak(protocol::Done& done) {
  if (!allocated || simt::Sanitizer::live_allocations() <= *allocated) return false;
  std::uint32_t callers[2];
  simt::Sanitizer::newest_allocation(callers);
  done.pc = callers[0];
  done.other_pc = callers[1];
  done.status = protocol::Status::fault;
  done.gate = protocol::Gate::memory;
  done.cause = number(Cause::memory_leak);
  put(done.what, "memory leak");
  put(done.detail, "every call allocates memory that it never frees: " +
                       std::to_string(simt::Sanitizer::live_allocations() - *allocated) + " more after each");
  return true;
}

// Many programs don't look at what NCCL returns.
bool describe_refusal(protocol::Done& done) {
  const std::string refused = ridge_refused_call();
  if (refused.empty()) return false;
  done.status = protocol::Status::cuda_error;
  done.cause = number(Cause::refused_call);
  put(done.what, "NCCL refused a call");
  put(done.detail, refused);
  return true;
}

// A finding has no error code: the kernel ran on.
bool describe_finding(protocol::Done& done) {
  std::vector<simt::Finding> all = simt::findings();
  // A value that is undefined is wrong where somebody uses it: the answer tells.
  auto proven = [](const simt::Finding& f) { return f.cause != Cause::inactive_lane; };
  const auto first = std::find_if(all.begin(), all.end(), proven);
  if (first == all.end() && (describe_leak(done) || all.empty() || !simt::Sanitizer::enabled()))
    return done.status != protocol::Status::ok;
  const simt::Finding& f = first != all.end() ? *first : all.front();
  done.status = protocol::Status::fault;
  done.gate = protocol::Gate::correct;
  done.cause = number(f.cause);
  put(done.what, f.kind);
  put(done.detail, f.detail + simt::launch_in_words(f.launched));
  put(done.kernel, f.kernel);
  done.pc = f.at.pc;
  std::memcpy(done.block, f.at.block_index, sizeof done.block);
  std::memcpy(done.thread, f.at.thread, sizeof done.thread);
  if (!f.race) return true;
  const unsigned* t = f.other.thread;
  std::string where = f.other.block == f.at.block ? "the same block" : "block number " + std::to_string(f.other.block);
  done.other_pc = f.other.pc;
  put(done.what, f.kind + " (" + f.at.what + ")");
  put(done.other, std::string(f.other.what) + " by " + where + ", thread (" + std::to_string(t[0]) + "," +
                      std::to_string(t[1]) + "," + std::to_string(t[2]) + ")");
  return true;
}
}  // namespace

double stays_awake() { return 0; }
void allow_host_access() { __ridge_host_library(); }

void start(protocol::Hello& hello) {
  hello.simt = 1;
  put(hello.device, "SIMT emulator");
  simt::allow_child_launches(false);
  allow_file_operations();
}

void* map_buffer(int fd, const protocol::Buffer& buffer, std::string& error) {
  void* p = simt::map_buffer(fd, buffer.bytes, buffer.writable != 0, static_cast<simt::BufferPlace>(buffer.place));
  if (p == nullptr) error = std::strerror(errno);
  return p;
}

// The emulator counts; its time is virtual, and in the launch records.
void start_clock(cudaStream_t, std::uint32_t) {}
double stop_clock(cudaStream_t) { return 0; }

void set_recording(bool on, bool requests) {
  recording = on;
  simt::set_recording(on);
  simt::WarpRecords::set(on && requests);
}

void set_sanitizing(bool on) {
  simt::clear_findings();
  allocated.reset(), alive.reset();
  simt::Sanitizer::enable(on);
}

void before_last_call() {
  allocated = simt::Sanitizer::live_allocations();
  alive = now_alive();
}

int take_launches() {
  if (!recording) return -1;
  std::string json = simt::launches_json(simt::take_launches());
  auto field = [](const char* name, std::uint64_t bytes) {
    return std::string("\"") + name + "\":" + std::to_string(bytes);
  };
  json.insert(1, "\"transfers\":{" + field("from_host", transfers.from_host) + "," +
                     field("to_host", transfers.to_host) + "," + field("on_device", transfers.on_device) + "," +
                     field("filled", transfers.filled) + "}," + schedule_json(schedule) + ",");
  if (simt::WarpRecords::on()) json.insert(1, "\"warp\":" + simt::WarpRecords::take_json(false) + ",");
  return in_memory("launches", json.data(), json.size());
}

void set_tracing(bool on) {
  if (on) simt::Trace::start();
}

void mark_call() { simt::Trace::mark(); }
void call_begins(cudaStream_t stream) { simt::call_begins(stream); }
void call_ends(cudaStream_t stream) { simt::call_ends(stream); }

int take_trace(std::string& error) {
  bool overflow = false;
  const std::vector<char> bytes = simt::Trace::take(overflow);
  if (overflow) {
    error = "the calls move more than 1 GiB of the host's data to the device";
    return -1;
  }
  return in_memory("trace", bytes.data(), bytes.size());
}

bool replay(int fd, const protocol::Replay& request, protocol::Done& done) {
  void* p = request.bytes == 0 ? MAP_FAILED : mmap(nullptr, request.bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (p == MAP_FAILED) {
    done.status = protocol::Status::bad_request;
    put(done.what, "cannot map a trace");
    return false;
  }
  set_recording(request.record != 0, request.record == 2);
  set_sanitizing(request.sanitize != 0);
  // An answer that needs an order of its threads differs between ranks, as it does on GPUs. Counts have one order.
  simt::set_lane_order(request.record != 0 ? 1 : own_order);
  const simt::Replay r = simt::replay_trace(static_cast<const char*>(p), request.bytes, [](bool last) {
    if (last && simt::Sanitizer::enabled()) before_last_call();
  });
  munmap(p, request.bytes);
  transfers = r.transfers;
  schedule = r.schedule;
  race = r.race;
  done.to_host = r.transfers.to_host;
  put(done.host_wait, r.host_wait.call);
  done.host_wait_pc = r.host_wait.pc;
  if (r.ok) return true;
  done.status = protocol::Status::bad_request;
  put(done.what, "the device work cannot be repeated:");
  put(done.detail, r.error);
  return false;
}

// Without a way to the switchboard ranks know of each other and no more.
namespace {
protocol::Gate gate_of(Cause why) {
  switch (why) {
    case Cause::message_mismatch:
    case Cause::collective_mismatch:
      return protocol::Gate::mismatch;
    case Cause::rank_deadlock:
      return protocol::Gate::deadlock;
    case Cause::refused_call:
      return protocol::Gate::launch;
    default:
      return protocol::Gate::memory;
  }
}
}  // namespace

void* join_ranks(int socket, int rank, int ranks) {
  own_order = 2 + static_cast<std::uint64_t>(rank);
  ridge_on_rank_end([](Cause why, bool follows, const std::string& report) {
    end_rank(gate_of(why), why, follows, report.substr(std::min(report.find_first_not_of('\n'), report.size())));
  });
  return fcntl(socket, F_GETFD) < 0 ? nullptr : ridge_join_ranks(socket, rank, ranks);
}

bool set_links(const char* topology, int node, int ranks) { return ridge_set_links(topology, node, ranks); }

std::string why_refused(cudaError_t& error) {
  int code = error;
  std::string why = simt::refused_in_words(code);
  error = static_cast<cudaError_t>(code);
  return why;
}

bool describe_fault(protocol::Done& done) {
  const simt::Fault* fault = simt::last_fault();
  if (fault == nullptr && !race.empty()) {
    done.status = protocol::Status::fault;
    done.gate = protocol::Gate::correct;
    done.cause = number(Cause::race_streams);
    put(done.what, "race between streams");
    put(done.detail, race);
    return true;
  }
  if (fault == nullptr) return describe_refusal(done) || describe_finding(done) || describe_handles(done);
  done.status = protocol::Status::fault;
  done.gate = protocol::Gate::memory;
  done.code = fault->error;
  done.cause = number(fault->cause);
  put(done.what, fault->kind);
  // Host code that faults has no kernel, and nobody launched it.
  put(done.detail, fault->detail + (fault->kernel.empty() ? "" : simt::launch_in_words(simt::launch_callers())));
  put(done.kernel, fault->kernel);
  put(done.file, fault->file);
  done.line = fault->line;
  done.pc = fault->pc;
  std::memcpy(done.block, fault->block, sizeof done.block);
  std::memcpy(done.thread, fault->thread, sizeof done.thread);
  return true;
}

}  // namespace ridge::worker
