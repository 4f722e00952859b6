#include "file_time.hpp"

#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include "stream/engine.hpp"

namespace ridge::worker {

namespace {

constexpr std::uint32_t kRecord = 0x656c6966;  // "file"; calls between ranks begin with 0 or 1
constexpr int kFirstStream = 10000;            // numbers of streams in timelines

// One piece of a request, or its latency.
struct Taken {
  std::uint32_t magic = kRecord;
  std::int32_t resource = 0;
  std::uint64_t number = 0, bytes = 0;  // number: the request's
  double seconds = 0;
};

std::string resource_name(int resource) {
  if (resource == files::kMetadata) return "metadata server";
  if (resource == files::kPageCache) return "page cache";
  if (resource == files::kLatency) return "storage latency";
  if (resource >= files::kFirstCore) return "core " + std::to_string(resource - files::kFirstCore);
  return "target " + std::to_string(resource);
}

class FileOperation : public simt::Exchange {
 public:
  explicit FileOperation(const Taken& taken) : taken_(taken) {}
  void begin() override {}
  bool advance() override { return true; }
  void stalled(double) override {}
  std::string name() const override {
    return "file request " + std::to_string(taken_.number) + ": " + resource_name(taken_.resource);
  }
  const char* kind() const override { return simt::kFile.data(); }
  bool is_file(std::uint64_t& number, int& resource) const override {
    number = taken_.number, resource = taken_.resource;
    return true;
  }
  double seconds() const override { return taken_.seconds; }
  std::size_t bytes() const override { return taken_.bytes; }
  void announce(double start) override { start_ = start; }
  bool heard(double& end) override {
    end = start_ + taken_.seconds;
    return true;
  }
  void listen() override {}
  std::vector<Part> parts() const override { return {}; }
  std::vector<char> record() const override {
    std::vector<char> out(sizeof taken_);
    std::memcpy(out.data(), &taken_, sizeof taken_);
    return out;
  }

 private:
  Taken taken_;
  double start_ = 0;
};

simt::ExchangeMaker others = nullptr;

std::shared_ptr<simt::Exchange> make_recorded_operation(const simt::ExchangeRecord& record) {
  std::uint32_t magic = 0;
  if (record.bytes >= sizeof magic) std::memcpy(&magic, record.data, sizeof magic);
  if (magic != kRecord) {
    if (others == nullptr) throw std::invalid_argument("it holds calls between ranks, and this process is none");
    return others(record);
  }
  Taken taken;
  if (record.bytes != sizeof taken) throw std::invalid_argument("a file request is damaged");
  std::memcpy(&taken, record.data, sizeof taken);
  if (!(taken.seconds >= 0 && taken.seconds < 3600))
    throw std::invalid_argument("a file request has an impossible time");
  return std::make_shared<FileOperation>(taken);
}

// Of this process. Streams are no handles of the program's.
std::map<int, std::unique_ptr<CUstream_st>> streams;
std::map<std::uint64_t, simt::OperationPtr> in_flight;

CUstream_st& stream_of(int resource) {
  std::unique_ptr<CUstream_st>& s = streams[resource];
  if (s == nullptr) {
    s = std::make_unique<CUstream_st>();
    s->id = kFirstStream + resource;
    s->blocking = false;
    simt::Trace::stream(s->id, resource_name(resource), 0, 0);
  }
  return *s;
}

simt::OperationPtr take(simt::Engine& engine, const Taken& taken, const char* call, double host_seconds,
                        std::vector<simt::OperationPtr> after) {
  simt::Work work;
  work.kind = simt::WorkKind::exchange;
  work.extent.width = taken.bytes;
  work.exchange = [taken] { return std::make_shared<FileOperation>(taken); };
  CUstream_st& stream = stream_of(taken.resource);
  if (taken.resource == files::kLatency) stream.tail = nullptr;  // one does not wait for another
  return engine.submit(stream, std::move(work), call, host_seconds, std::move(after));
}

const char* call_name(const files::Request& r, bool asynchronous) {
  switch (r.op) {
    case files::Op::open:
      return "files::open";
    case files::Op::read:
      return asynchronous ? "files::Ring::read" : "files::pread";
    case files::Op::write:
      return asynchronous ? "files::Ring::write" : "files::pwrite";
    case files::Op::sync:
      return "files::fsync";
    case files::Op::rename:
      return "files::rename";
    case files::Op::compute:
      return "files::start_on_core";
    default:
      return "files";
  }
}

}  // namespace

void allow_file_operations() {
  others = simt::exchange_maker();
  simt::set_exchange_maker(make_recorded_operation);
}

void issue_file_request(const files::Reply& reply, const files::Request& request) {
  // Whoever takes a request's bytes has waited for them.
  if (request.op == files::Op::complete) return wait_for_file_request(request.ticket);
  if (reply.pieces == 0 || reply.pieces > files::kMostPieces) return;
  simt::Engine& engine = simt::Engine::instance();
  std::lock_guard lock(engine.mutex);
  const char* const call = call_name(request, reply.asynchronous != 0);
  double host = reply.host;
  std::vector<simt::OperationPtr> ends;
  for (int stage = 0; stage < 2; ++stage) {
    std::vector<simt::OperationPtr> now;
    for (std::uint32_t i = 0; i < reply.pieces; ++i) {
      const files::Piece& p = reply.piece[i];
      if (p.stage != stage) continue;
      now.push_back(take(engine, {kRecord, p.resource, reply.number, p.bytes, p.seconds}, call, host, ends));
      host = 0;
    }
    if (stage == 0 && reply.latency > 0)
      now = {take(engine, {kRecord, files::kLatency, reply.number, 0, reply.latency}, call, host, now)};
    if (!now.empty()) ends = std::move(now);
  }
  if (reply.asynchronous == 0) return engine.wait(call, ends);
  simt::Work nothing;
  CUstream_st& stream = stream_of(files::kLatency);
  stream.tail = nullptr;
  in_flight[reply.ticket] = ends.size() == 1 ? ends.front() : engine.submit(stream, std::move(nothing), "", 0, ends);
}

void wait_for_file_request(std::uint64_t ticket) {
  simt::Engine& engine = simt::Engine::instance();
  std::lock_guard lock(engine.mutex);
  const auto found = in_flight.find(ticket);
  if (found == in_flight.end()) return;
  engine.wait("files: wait", {found->second});
  in_flight.erase(found);
}

}  // namespace ridge::worker
