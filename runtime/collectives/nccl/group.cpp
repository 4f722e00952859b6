#include "group.hpp"

#include <algorithm>
#include <map>
#include <thread>

#include "../reduction.hpp"
#include "api/api.hpp"
#include "device/device_profile.hpp"
#include "diagnosis.hpp"
#include "exchange.hpp"

namespace ridge::collectives {

namespace {

struct Group {
  struct Entry {
    ncclComm* comm;
    Planned planned;
    CUstream_st* stream;
  };
  int depth = 0;
  ncclResult_t error = ncclSuccess;
  std::vector<Entry> calls;
  std::vector<Join> joins;
};

std::map<std::thread::id, Group>& groups() {  // with the engine's lock, as all that follows
  static auto* all = new std::map<std::thread::id, Group>;
  return *all;
}
Group& group_of_this_thread() { return groups()[std::this_thread::get_id()]; }

// Stream 0 is that of the communicator's device, whichever is current.
CUstream_st* stream_of(const ncclComm& comm, cudaStream_t handle) {
  simt::Engine& engine = simt::Engine::instance();
  const int current = simt::current_device();
  simt::set_current_device(comm.device);
  CUstream_st* stream = engine.streams.find(handle);
  simt::set_current_device(current);
  return stream;
}

struct Range {
  std::uintptr_t begin, end;
  Range(const void* p, std::size_t bytes) : begin(reinterpret_cast<std::uintptr_t>(p)), end(begin + bytes) {}
  bool meets(const Range& other) const {
    return begin != end && other.begin != other.end && begin < other.end && other.begin < end;
  }
};

// The calls of a group move their data at once: what one of them writes, no other one reads or writes.
void check_group(const ncclComm& comm, const std::vector<Planned>& calls) {
  if (calls.size() < 2 || !looks_for_mistakes()) return;
  auto element = [](const Planned& p) { return bytes_of(static_cast<ncclDataType_t>(p.call.type)); };
  auto reads = [&](const Planned& p) {
    return Range(p.from, elements_read(p.call, comm.rank, comm.size) * element(p));
  };
  auto writes = [&](const Planned& p) {
    return Range(p.to, elements_written(p.call, comm.rank, comm.size) * element(p));
  };
  for (const Planned& writer : calls)
    for (const Planned& other : calls) {
      if (&writer == &other) continue;
      const bool read = writes(writer).meets(reads(other));
      if (!read && !writes(writer).meets(writes(other))) continue;
      end_with_overlap(comm, writer.call, Cause::group_order,
                       "what it writes is also " + std::string(read ? "read by " : "written by ") +
                           text_of(other.call) + place_of(other.call.pc) +
                           " of the same group: the calls of a group run at once");
    }
}

// One operation for all calls of a group on a communicator. It runs in the stream of the first; the others wait for it.
ncclResult_t launch(ncclComm& comm, std::vector<Planned> calls, const std::vector<CUstream_st*>& streams) {
  simt::Engine& engine = simt::Engine::instance();
  check_group(comm, calls);
  simt::Work work;
  work.kind = simt::WorkKind::exchange;
  work.exchange = [&comm, calls] { return std::make_shared<GroupExchange>(comm, calls); };
  CUstream_st& stream = *streams.front();
  const double seconds = simt::device_profile().launch_call;
  if (simt::api::capturing(stream)) {
    if (streams.size() > 1) return fail(ncclInvalidUsage, "a captured group on one communicator must use one stream");
    return simt::api::capture_work(stream, std::move(work)) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
  }
  if (simt::api::legacy_use(stream) != cudaSuccess)
    return fail(ncclUnhandledCudaError, "the default stream cannot be used during this capture");
  std::vector<simt::OperationPtr> after;
  if (comm.tail != nullptr) after.push_back(comm.tail);
  for (std::size_t i = 1; i < streams.size(); ++i)
    for (auto& before : engine.streams.predecessors(*streams[i])) after.push_back(before);
  comm.tail = engine.submit(stream, std::move(work), name_of(calls.front().call.what), seconds, std::move(after));
  for (std::size_t i = 1; i < streams.size(); ++i) {
    simt::Work wait;
    wait.kind = simt::WorkKind::wait;
    engine.submit(*streams[i], std::move(wait), "", 0, {comm.tail});
  }
  return ncclSuccess;
}

ncclResult_t launch_all(std::vector<Group::Entry> entries) {
  ncclResult_t result = ncclSuccess;
  while (!entries.empty() && result == ncclSuccess) {
    ncclComm* comm = entries.front().comm;
    std::vector<Planned> calls;
    std::vector<CUstream_st*> streams;
    for (const auto& e : entries) {
      if (e.comm != comm) continue;
      calls.push_back(e.planned);
      if (std::find(streams.begin(), streams.end(), e.stream) == streams.end()) streams.push_back(e.stream);
    }
    std::erase_if(entries, [&](const auto& e) { return e.comm == comm; });
    result = launch(*comm, std::move(calls), streams);
  }
  return result;
}

}  // namespace

ncclResult_t refuse(ncclResult_t result) {
  Group& group = group_of_this_thread();
  if (group.depth > 0 && group.error == ncclSuccess) group.error = result;
  return result;
}

ncclResult_t add_call(ncclComm* comm, const Planned& planned, cudaStream_t handle) {
  CUstream_st* stream = stream_of(*comm, handle);
  if (stream == nullptr) return refuse(fail(ncclUnhandledCudaError, "there is no such stream"));
  if (stream->device != comm->device)
    return refuse(fail(ncclInvalidUsage, "the stream belongs to device " + std::to_string(stream->device) +
                                             ", the communicator to device " + std::to_string(comm->device)));
  Group& group = group_of_this_thread();
  if (group.depth == 0) return launch(*comm, {planned}, {stream});
  group.calls.push_back({comm, planned, stream});
  group.calls.back().planned.in_group = true;
  return ncclSuccess;
}

ncclResult_t add_join(Join join) {
  {
    std::lock_guard lock(simt::Engine::instance().mutex);
    Group& group = group_of_this_thread();
    if (group.depth > 0) {
      group.joins.push_back(std::move(join));
      return ncclSuccess;
    }
  }
  const ncclResult_t begun = join.begin();
  return begun == ncclSuccess ? join.end() : begun;
}

bool group_is_open() {
  return std::any_of(groups().begin(), groups().end(), [](const auto& g) { return g.second.depth > 0; });
}

ncclResult_t start_group() {
  ++group_of_this_thread().depth;
  return ncclSuccess;
}

ncclResult_t end_group() {
  Group ended;
  {
    std::lock_guard lock(simt::Engine::instance().mutex);
    Group& group = group_of_this_thread();
    if (group.depth == 0) return fail(ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
    if (--group.depth > 0) return ncclSuccess;
    ended = std::exchange(group, {});
  }
  if (ended.error != ncclSuccess) return ended.error;
  for (Join& j : ended.joins)
    if (ncclResult_t r = j.begin(); r != ncclSuccess) return r;
  for (Join& j : ended.joins)
    if (ncclResult_t r = j.end(); r != ncclSuccess) return r;
  std::lock_guard lock(simt::Engine::instance().mutex);
  return launch_all(std::move(ended.calls));
}

}  // namespace ridge::collectives
