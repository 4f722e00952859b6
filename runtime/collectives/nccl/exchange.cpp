#include "exchange.hpp"

#include <algorithm>
#include <cstring>

#include "../reduction.hpp"
#include "device/device_profile.hpp"
#include "diagnosis.hpp"
#include "links.hpp"
#include "recorded.hpp"
#include "sanitize/sanitizer.hpp"
#include "stream/device_log.hpp"

namespace ridge::collectives {

namespace {

// To device memory, which is initialised then.
void store(void* to, const char* from, std::size_t bytes) {
  if (bytes == 0) return;
  std::memcpy(to, from, bytes);
  if (simt::Sanitizer::enabled()) simt::Sanitizer::written(reinterpret_cast<std::uintptr_t>(to), bytes);
}

class Send : public Task {
 public:
  using Task::Task;
  void begin() override {
    number_ = comm_.sends[static_cast<std::size_t>(planned_.call.root)]++;
    const auto* data = static_cast<const char*>(planned_.from);
    emit(planned_.call.root, {0, Kind::data, number_, 0}, {data, data + planned_.call.count * element()});
    note_part(planned_.call.root, true, planned_.call.count * element(), 0, number_);
  }
  bool advance() override {
    Message answer;
    return take(comm_, {static_cast<std::uint32_t>(planned_.call.root), Kind::taken, number_, 0}, answer);
  }
  int waits_for() const override { return planned_.call.root; }
  double seconds() const override { return 0; }  // the group has the time
  void tell(double start) override { Task::tell(planned_.call.root, number_, 0, start); }
  bool hear(double& latest) override { return Task::hear(planned_.call.root, number_, 1, latest); }

 private:
  std::uint64_t number_ = 0;
};

class Receive : public Task {
 public:
  using Task::Task;
  void begin() override { number_ = comm_.receives[static_cast<std::size_t>(planned_.call.root)]++; }
  bool advance() override {
    Message m;
    if (!take(comm_, {static_cast<std::uint32_t>(planned_.call.root), Kind::data, number_, 0}, m)) return false;
    if (m.data.size() != planned_.call.count * element()) end_with_mismatch(comm_, planned_.call, m);
    store(planned_.to, m.data.data(), m.data.size());
    bytes_in_ = m.data.size();
    note_part(planned_.call.root, false, bytes_in_, 0, number_);
    emit(planned_.call.root, {0, Kind::taken, number_, 0}, {});
    return true;
  }
  int waits_for() const override { return planned_.call.root; }
  double seconds() const override { return 0; }
  void tell(double start) override { Task::tell(planned_.call.root, number_, 1, start); }
  bool hear(double& latest) override { return Task::hear(planned_.call.root, number_, 0, latest); }

 private:
  std::uint64_t number_ = 0;
};

class Collective : public Task {
 public:
  using Task::Task;

  void begin() override {
    number_ = comm_.collectives++;
    const Call& c = planned_.call;
    schedule_ = schedule_of(c, comm_.rank, comm_.size);
    work_.resize(schedule_.work * element());
    const std::size_t n = elements_read(c, comm_.rank, comm_.size);
    if (n > 0) std::memcpy(at(schedule_.input_at), planned_.from, n * element());
    if (reduces()) scale(n);
    if (c.what == What::all_to_all) {
      const std::size_t own = c.count * static_cast<std::size_t>(comm_.rank);
      std::memcpy(at(schedule_.output_at + own), at(own), c.count * element());
    }
    send_step();
  }

  bool advance() override {
    while (step_ < schedule_.steps.size()) {
      const Step& s = schedule_.steps[step_];
      if (s.from >= 0 && !receive(s)) return false;
      ++step_;
      send_step();
    }
    const std::size_t n = elements_written(planned_.call, comm_.rank, comm_.size);
    if (reduces()) after(at(schedule_.output_at), n, type(), op(), comm_.size);
    if (n > 0) store(planned_.to, at(schedule_.output_at), n * element());
    work_ = {};
    return true;
  }

  int waits_for() const override { return step_ < schedule_.steps.size() ? schedule_.steps[step_].from : -1; }
  double seconds() const override { return seconds_; }
  void tell(double start) override {
    for (int r = 0; r < comm_.size; ++r) Task::tell(r, number_, 2, start);
  }
  bool hear(double& latest) override {
    while (heard_ < comm_.size && Task::hear(heard_, number_, 2, latest)) ++heard_;
    return heard_ == comm_.size;
  }

 private:
  ncclDataType_t type() const { return static_cast<ncclDataType_t>(planned_.call.type); }
  bool reduces() const {
    const What w = planned_.call.what;
    return w == What::all_reduce || w == What::reduce || w == What::reduce_scatter;
  }
  ncclRedOp_t op() const {
    return planned_.call.op < ncclNumOps ? static_cast<ncclRedOp_t>(planned_.call.op) : ncclSum;
  }
  char* at(std::size_t index) { return work_.data() + index * element(); }

  void scale(std::size_t n) {
    if (planned_.call.op < ncclNumOps) return before(at(schedule_.input_at), n, type(), op(), comm_.size);
    const ScaledSum& sum = comm_.scaled_sums[planned_.call.op - ncclNumOps];
    multiply(at(schedule_.input_at), sum.on_device != nullptr ? sum.on_device : sum.immediate.data(), n, type());
  }

  void send_step() {
    if (step_ >= schedule_.steps.size()) return;
    const Step& s = schedule_.steps[step_];
    seconds_ += std::max(link_seconds(s.to, s.send_count), link_seconds(s.from, s.receive_count));
    if (s.to < 0) return;
    const char* data = at(s.send_at);
    note_part(s.to, true, s.send_count * element(), 1 + number_, sent_[s.to]);
    emit(s.to, {0, Kind::collective, number_, sent_[s.to]++}, {data, data + s.send_count * element()});
  }

  double link_seconds(int peer, std::size_t count) const {
    if (peer < 0) return 0;
    const Link link = link_between(comm_, comm_.rank, peer);
    return link.latency + static_cast<double>(count * element()) * link.seconds_per_byte;
  }

  bool receive(const Step& s) {
    Message m;
    const std::uint32_t step = received_[s.from];
    if (!take(comm_, {static_cast<std::uint32_t>(s.from), Kind::collective, number_, step}, m)) return false;
    ++received_[s.from];
    if (!same(m.call, planned_.call)) end_with_mismatch(comm_, planned_.call, m);
    bytes_in_ += m.data.size();
    note_part(s.from, false, m.data.size(), 1 + number_, step);
    if (s.reduce)
      reduce(at(s.receive_at), m.data.data(), s.receive_count, type(), op());
    else if (!m.data.empty())
      std::memcpy(at(s.receive_at), m.data.data(), m.data.size());
    return true;
  }

  std::uint64_t number_ = 0;
  Schedule schedule_;
  std::vector<char> work_;
  std::size_t step_ = 0;
  std::map<int, std::uint32_t> sent_, received_;
  int heard_ = 0;  // ranks
  double seconds_ = 0;
};

}  // namespace

void Task::emit(int to, Slot slot, std::vector<char> data) {
  bytes_out_ += data.size();
  send(comm_, to, {slot, planned_.call, std::move(data)});
}

void Task::tell(int rank, std::uint64_t number, std::uint32_t step, double start) {
  std::vector<char> data(sizeof start);
  std::memcpy(data.data(), &start, sizeof start);
  send(comm_, rank, {{0, Kind::time, number, step}, planned_.call, std::move(data)});
}

bool Task::hear(int rank, std::uint64_t number, std::uint32_t step, double& latest) {
  Message m;
  if (!take(comm_, {static_cast<std::uint32_t>(rank), Kind::time, number, step}, m)) return false;
  double start = 0;
  if (m.data.size() == sizeof start) std::memcpy(&start, m.data.data(), sizeof start);
  latest = std::max(latest, start);
  return true;
}

void Task::note_part(int peer, bool sent, std::size_t bytes, std::uint64_t channel, std::uint64_t number) {
  const Link link = link_between(comm_, comm_.rank, peer);
  parts_.push_back({peer, sent, bytes, comm_.key * 1000003 + channel, number, link.latency, link.seconds_per_byte});
}

std::size_t Task::element() const { return bytes_of(static_cast<ncclDataType_t>(planned_.call.type)); }

std::unique_ptr<Task> make_task(ncclComm& comm, const Planned& planned) {
  if (planned.call.what == What::send) return std::make_unique<Send>(comm, planned);
  if (planned.call.what == What::receive) return std::make_unique<Receive>(comm, planned);
  return std::make_unique<Collective>(comm, planned);
}

GroupExchange::GroupExchange(ncclComm& comm, const std::vector<Planned>& calls) : comm_(comm), ended_(calls.size()) {
  for (const Planned& p : calls) tasks_.push_back(make_task(comm, p));
  if (simt::Trace::on()) record_ = record_of(comm, calls);
}

GroupExchange::~GroupExchange() {
  for (const auto& t : tasks_) std::erase(comm_.inside, t.get());
  if (comm_.group == this) comm_.group = nullptr;
}

void GroupExchange::begin() {
  comm_.group = this;
  for (const auto& t : tasks_) comm_.inside.push_back(t.get());
  for (const auto& t : tasks_) t->begin();
}

bool GroupExchange::advance() {
  bool all = true;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (!ended_[i]) ended_[i] = tasks_[i]->advance();
    if (ended_[i]) std::erase(comm_.inside, tasks_[i].get());
    all = all && ended_[i];
  }
  return all;
}

void GroupExchange::stalled(double seconds) { look_for_deadlock(seconds); }

std::string GroupExchange::name() const {
  std::string name = name_of(tasks_.front()->call().what);
  return tasks_.size() == 1 ? name : name + " and " + std::to_string(tasks_.size() - 1) + " more";
}

// Sends and receives of a group share the links; its collectives follow each other.
double GroupExchange::seconds() const {
  double seconds = simt::device_profile().kernel_latency, in = 0, out = 0, latency = 0;
  for (const auto& t : tasks_) {
    seconds += t->seconds();
    if (t->call().what > What::receive) continue;
    const Link link = link_between(comm_, comm_.rank, t->call().root);
    latency = std::max(latency, link.latency);
    in += static_cast<double>(t->bytes_in()) * link.seconds_per_byte;
    out += static_cast<double>(t->bytes_out()) * link.seconds_per_byte;
  }
  return seconds + latency + std::max(in, out);
}

void GroupExchange::announce(double start) {
  std::lock_guard lock(simt::Engine::instance().mutex);
  latest_ = start;
  for (const auto& t : tasks_) t->tell(start);
}

bool GroupExchange::heard(double& end) {
  std::lock_guard lock(simt::Engine::instance().mutex);
  while (heard_ < tasks_.size() && tasks_[heard_]->hear(latest_)) ++heard_;
  end = latest_ + seconds();
  return heard_ == tasks_.size();
}

void GroupExchange::listen() {
  simt::Engine& engine = simt::Engine::instance();
  std::lock_guard lock(engine.mutex);
  engine.wait_for_arrival(0.05);
}

std::vector<simt::Exchange::Part> GroupExchange::parts() const {
  std::vector<Part> all;
  for (const auto& t : tasks_) all.insert(all.end(), t->parts().begin(), t->parts().end());
  return all;
}

std::size_t GroupExchange::bytes() const {
  std::size_t out = 0, in = 0;
  for (const auto& t : tasks_) out += t->bytes_out(), in += t->bytes_in();
  return out > 0 ? out : in;
}

}  // namespace ridge::collectives
