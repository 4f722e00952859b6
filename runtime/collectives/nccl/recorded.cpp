#include "recorded.hpp"

#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "../reduction.hpp"
#include "exchange.hpp"
#include "node.hpp"

namespace ridge::collectives {

namespace {

struct Head {
  std::uint32_t is_call, count;  // calls of a group, or ranks of a communicator, whose processes follow
  std::uint64_t key;
  std::int32_t rank, device;
};

struct RecordedCall {
  Call call;
  std::uint64_t from, to;
  std::uint64_t scale_on_device;  // flag of a scaled sum
  std::array<char, 8> scale;
};
static_assert(std::is_trivially_copyable_v<RecordedCall>);

constexpr std::size_t kLargestCall = std::size_t{1} << 40;
constexpr std::uint32_t kMostRanks = 4096, kMostCalls = 4096;

template <class T>
void put(std::vector<char>& to, const T& value) {
  const auto* p = reinterpret_cast<const char*>(&value);
  to.insert(to.end(), p, p + sizeof value);
}

template <class T>
T take(const char*& at, const char* end) {
  T value;
  if (static_cast<std::size_t>(end - at) < sizeof value) throw std::length_error("a call between ranks ends too early");
  std::memcpy(&value, at, sizeof value);
  at += sizeof value;
  return value;
}

void require(bool good) {
  if (!good) throw std::invalid_argument("a call between ranks is damaged");
}

void make_communicator(const Head& head, const char* at, const char* end) {
  require(head.count >= 1 && head.count <= kMostRanks && head.rank >= 0 &&
          static_cast<std::uint32_t>(head.rank) < head.count);
  std::vector<std::uint64_t> processes;
  for (std::uint32_t r = 0; r < head.count; ++r) processes.push_back(take<std::uint64_t>(at, end));
  require(processes[static_cast<std::size_t>(head.rank)] == Node::instance().token());
  if (Ranks::instance().find(head.key, head.rank) != nullptr) return;
  Ranks::instance().make(head.key, head.rank, std::move(processes), 0);
}

}  // namespace

std::vector<char> record_of(const ncclComm& comm) {
  std::vector<char> out;
  put(out, Head{0, static_cast<std::uint32_t>(comm.size), comm.key, comm.rank, comm.device});
  for (std::uint64_t p : comm.processes) put(out, p);
  return out;
}

std::vector<char> record_of(const ncclComm& comm, const std::vector<Planned>& calls) {
  std::vector<char> out;
  put(out, Head{1, static_cast<std::uint32_t>(calls.size()), comm.key, comm.rank, comm.device});
  for (const Planned& p : calls) {
    RecordedCall c{p.call, reinterpret_cast<std::uintptr_t>(p.from), reinterpret_cast<std::uintptr_t>(p.to), 0, {}};
    if (p.call.op >= ncclNumOps) {
      const ScaledSum& sum = comm.scaled_sums[p.call.op - ncclNumOps];
      c.scale_on_device = reinterpret_cast<std::uintptr_t>(sum.on_device);
      c.scale = sum.immediate;
    }
    put(out, c);
  }
  return out;
}

std::shared_ptr<simt::Exchange> make_recorded(const simt::ExchangeRecord& record) {
  const char *at = record.data, *end = record.data + record.bytes;
  const Head head = take<Head>(at, end);
  if (head.is_call == 0) return make_communicator(head, at, end), nullptr;
  ncclComm* comm = Ranks::instance().find(head.key, head.rank);
  require(comm != nullptr && head.count >= 1 && head.count <= kMostCalls);
  std::vector<Planned> calls;
  for (std::uint32_t i = 0; i < head.count; ++i) {
    const auto c = take<RecordedCall>(at, end);
    const auto type = static_cast<ncclDataType_t>(c.call.type);
    const std::size_t element = c.call.type < ncclNumTypes ? bytes_of(type) : 0;
    require(c.call.what < What::split && element > 0 && c.call.root >= -1 && c.call.root < comm->size &&
            c.call.count < kLargestCall / element / static_cast<std::size_t>(comm->size));
    const bool rooted = c.call.what != What::all_reduce && c.call.what != What::all_gather &&
                        c.call.what != What::reduce_scatter && c.call.what != What::all_to_all;
    require(!rooted || c.call.root >= 0);
    Planned p{c.call, reinterpret_cast<const void*>(c.from), reinterpret_cast<void*>(c.to)};
    const std::size_t read = elements_read(c.call, comm->rank, comm->size) * element;
    const std::size_t written = elements_written(c.call, comm->rank, comm->size) * element;
    record.check(p.from, read, false);
    record.check(p.to, written, true);
    if (read > 0) record.touched->read.add(c.from, c.from + read);
    if (written > 0) record.touched->written.add(c.to, c.to + written);
    if (c.call.op >= ncclNumOps) {
      ScaledSum sum;
      sum.type = type;
      sum.immediate = c.scale;
      sum.on_device = reinterpret_cast<const void*>(c.scale_on_device);
      if (sum.on_device != nullptr) record.check(sum.on_device, element, false);
      comm->scaled_sums.push_back(sum);
      p.call.op = static_cast<std::uint32_t>(ncclNumOps + comm->scaled_sums.size() - 1);
    }
    calls.push_back(p);
  }
  return std::make_shared<GroupExchange>(*comm, calls);
}

}  // namespace ridge::collectives
