// Collectives, sends and receives.
#include "../reduction.hpp"
#include "api.hpp"
#include "device/symbols.hpp"
#include "diagnosis.hpp"
#include "group.hpp"

using namespace ridge::collectives;

namespace {

// The range lies in one allocation that the device reaches, or in none that is known (a variable).
bool reachable(const void* p, std::size_t bytes) {
  if (bytes == 0) return true;
  if (p == nullptr) return false;
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  auto& memory = ridge::simt::DeviceMemory::instance();
  if (!memory.contains(address)) return ridge::simt::is_symbol(p) || memory.registered(address) != 0;
  const ridge::simt::Allocation* a = memory.find(address);
  return a != nullptr && bytes <= a->end - address;
}

// A GPU would read or write on behind the allocation, or not: who looks for mistakes is told at once.
void check_overrun(const ncclComm& comm, const void* p, std::size_t bytes, const char* which, const Call& call) {
  if (!looks_for_mistakes()) return;
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  const ridge::simt::Allocation* a = ridge::simt::DeviceMemory::instance().find(address);
  if (a == nullptr || a->bytes == 0) return;
  constexpr std::size_t kMost = std::size_t{1} << 62;  // more is a count below zero
  const std::string extent = bytes > kMost ? " is more than any memory holds"
                                           : " ends " + std::to_string(bytes - (a->end - address)) +
                                                 " bytes behind an allocation of " + std::to_string(a->bytes);
  end_with_overrun(comm, call, which + extent);
}

ncclResult_t check_buffer(const ncclComm& comm, const void* p, std::size_t bytes, const char* which, const Call& call) {
  if (reachable(p, bytes)) return ncclSuccess;
  check_overrun(comm, p, bytes, which, call);
  return fail(ncclInvalidArgument, std::string(name_of(call.what)) + ": " + which + " is no device memory of " +
                                       std::to_string(bytes) + " bytes");
}

// NCCL manual, "In-place operations": where output and input may lie over each other. Elsewhere what comes out is
// undefined.
void check_overlap(const ncclComm& comm, const Planned& p, std::size_t element) {
  if (!looks_for_mistakes()) return;
  const Call& c = p.call;
  const std::size_t read = elements_read(c, comm.rank, comm.size) * element,
                    written = elements_written(c, comm.rank, comm.size) * element;
  const auto from = reinterpret_cast<std::uintptr_t>(p.from), to = reinterpret_cast<std::uintptr_t>(p.to);
  if (read == 0 || written == 0 || from >= to + written || to >= from + read) return;
  const std::size_t own = c.count * element * static_cast<std::size_t>(comm.rank);
  const char* rule = "input and output must not overlap";
  bool in_place = false;
  switch (c.what) {
    case What::all_reduce:
    case What::reduce:
    case What::broadcast:
      in_place = from == to;
      rule = "in place, both pointers are the same";
      break;
    case What::reduce_scatter:
    case What::scatter:
      in_place = to == from + own;
      rule = "in place, recvbuff is sendbuff + rank * recvcount";
      break;
    case What::all_gather:
    case What::gather:
      in_place = from == to + own;
      rule = "in place, sendbuff is recvbuff + rank * sendcount";
      break;
    default:
      break;
  }
  if (in_place) return;
  const std::string where = to == from ? "where what it reads begins"
                            : to > from
                                ? std::to_string(to - from) + " bytes into what it reads"
                                : std::to_string(from - to) + " bytes before what it reads, and reaches into it";
  end_with_overlap(comm, c, ridge::Cause::buffer_overlap, "what it writes begins " + where + ": " + rule);
}

std::string out_of_range(const Call& c, int ranks) {
  if (c.what <= What::receive) return "rank " + std::to_string(c.root) + " of " + std::to_string(ranks);
  return "root " + std::to_string(c.root) + ", and the communicator has " +
         (ranks == 1 ? std::string("only rank 0") : "ranks 0 to " + std::to_string(ranks - 1));
}

ncclResult_t check(const ncclComm* comm, const Planned& p) {
  const Call& c = p.call;
  const std::string name = name_of(c.what);
  if (!Ranks::instance().alive(comm)) return fail(ncclInvalidArgument, name + ": there is no such communicator");
  const std::size_t element = bytes_of(static_cast<ncclDataType_t>(c.type));
  if (element == 0) return fail(ncclInvalidArgument, name + ": there is no data type " + std::to_string(c.type));
  if (c.what != What::all_reduce && c.what != What::all_gather && c.what != What::reduce_scatter &&
      c.what != What::all_to_all && (c.root < 0 || c.root >= comm->size))
    return fail(ncclInvalidArgument, name + ": " + out_of_range(c, comm->size));
  if (c.op >= ncclNumOps) {
    const std::size_t i = c.op - ncclNumOps;
    if (i >= comm->scaled_sums.size() || !comm->scaled_sums[i].live)
      return fail(ncclInvalidArgument, name + ": there is no operator " + std::to_string(c.op));
    if (comm->scaled_sums[i].type != static_cast<ncclDataType_t>(c.type))
      return fail(ncclInvalidArgument, name + ": the operator was made for another data type");
  }
  if (ncclResult_t r =
          check_buffer(*comm, p.from, elements_read(c, comm->rank, comm->size) * element, "what it reads", c))
    return r;
  if (ncclResult_t r =
          check_buffer(*comm, p.to, elements_written(c, comm->rank, comm->size) * element, "what it writes", c))
    return r;
  check_overlap(*comm, p, element);
  return ncclSuccess;
}

ncclResult_t call(What what, const void* from, void* to, std::size_t count, ncclDataType_t type, int op, int root,
                  ncclComm_t comm, cudaStream_t stream, const void* caller) {
  return api::locked([&] {
    Planned p{{what, static_cast<std::uint32_t>(type), static_cast<std::uint32_t>(op), root, count,
               reinterpret_cast<std::uintptr_t>(caller) - 1 - ridge::simt::program_base()},
              from,
              to};
    if (ncclResult_t r = check(comm, p)) {
      if (refused_call().empty()) refused_call() = last_failure() + place_of(p.call.pc);
      return refuse(r);
    }
    return add_call(comm, p, stream);
  });
}

}  // namespace

// The line of the student's call is where it returns to.
#define RIDGE_CALLER __builtin_return_address(0)

extern "C" {

ncclResult_t ncclAllReduce(const void* from, void* to, size_t n, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream) {
  return call(What::all_reduce, from, to, n, type, op, -1, comm, stream, RIDGE_CALLER);
}
ncclResult_t ncclReduce(const void* from, void* to, size_t n, ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t stream) {
  return call(What::reduce, from, to, n, type, op, root, comm, stream, RIDGE_CALLER);
}
ncclResult_t ncclBroadcast(const void* from, void* to, size_t n, ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream) {
  return call(What::broadcast, from, to, n, type, 0, root, comm, stream, RIDGE_CALLER);
}
ncclResult_t ncclBcast(void* buffer, size_t n, ncclDataType_t type, int root, ncclComm_t comm, cudaStream_t stream) {
  return call(What::broadcast, buffer, buffer, n, type, 0, root, comm, stream, RIDGE_CALLER);
}
ncclResult_t ncclReduceScatter(const void* from, void* to, size_t each, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
  return call(What::reduce_scatter, from, to, each, type, op, -1, comm, stream, RIDGE_CALLER);
}
ncclResult_t ncclAllGather(const void* from, void* to, size_t each, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  return call(What::all_gather, from, to, each, type, 0, -1, comm, stream, RIDGE_CALLER);
}
ncclResult_t ncclAlltoAll(const void* from, void* to, size_t each, ncclDataType_t type, ncclComm_t comm,
                          cudaStream_t stream) {
  return call(What::all_to_all, from, to, each, type, 0, -1, comm, stream, RIDGE_CALLER);
}
ncclResult_t ncclGather(const void* from, void* to, size_t each, ncclDataType_t type, int root, ncclComm_t comm,
                        cudaStream_t stream) {
  return call(What::gather, from, to, each, type, 0, root, comm, stream, RIDGE_CALLER);
}
ncclResult_t ncclScatter(const void* from, void* to, size_t each, ncclDataType_t type, int root, ncclComm_t comm,
                         cudaStream_t stream) {
  return call(What::scatter, from, to, each, type, 0, root, comm, stream, RIDGE_CALLER);
}
ncclResult_t ncclSend(const void* from, size_t n, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
  return call(What::send, from, nullptr, n, type, 0, peer, comm, stream, RIDGE_CALLER);
}
ncclResult_t ncclRecv(void* to, size_t n, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
  return call(What::receive, nullptr, to, n, type, 0, peer, comm, stream, RIDGE_CALLER);
}

ncclResult_t ncclGroupStart() { return api::locked(start_group); }
ncclResult_t ncclGroupEnd() {
  if (ncclResult_t refused = api::refused()) return refused;
  return end_group();
}
ncclResult_t ncclGroupSimulateEnd(ncclSimInfo_t*) {
  return fail(ncclInvalidUsage, "ncclGroupSimulateEnd is not there on the emulator");
}
}
