// Why a check failed, as one word. The emulator, the worker, the checks and the judge say it, results keep it, and
// advice depends on it; the sentences beside it are for people alone.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ridge {

// The numbers travel in the worker's protocol.
enum class Cause : std::uint32_t {
  none,
  // accesses of a kernel
  out_of_bounds,
  null_pointer,
  illegal_address,  // memory of the host, or of nobody
  use_after_free,
  read_only,    // a store to an input or to a __constant__ variable
  host_buffer,  // page-locked memory that the contract keeps from kernels
  peer_access,  // memory of another device
  misaligned,
  foreign_stack,  // another thread's local variables
  stack,          // too deep, or written over
  uninitialised,
  race_shared,
  race_global,
  race_streams,
  copy_under_way,  // shared memory is read before an asynchronous copy to it has arrived
  // order inside a kernel
  divergent_barrier,
  barrier_deadlock,
  endless_wait,
  inactive_lane,  // a shuffle reads a lane that does not take part
  warp_mask,      // lanes that a warp-wide function names do not call it, or name others
  // calls of a kernel and of the host
  host_function,
  kernel_launch,
  assertion,
  device_printf,
  device_call,  // a function of CUDA that a kernel calls in a way that it does not take
  host_access,  // host code follows a device pointer
  memory_leak,
  handle_leak,
  request_leak,  // a message that nobody waits for
  refused_call,
  // ranks
  rank_deadlock,
  early_reuse,     // a buffer changes before MPI_Wait
  device_message,  // an MPI of the host gets device memory
  group_order,     // calls of one group depend on each other
  buffer_overlap,
  collective_bounds,
  message_mismatch,
  collective_mismatch,
  // the host's part
  host_wait,
  host_copy,
  host_decides,
  stale_state,  // what is kept from a call does not fit the next
  // the process
  timeout,
  timeout_memory,
  ended,
  crashed,
  // answers
  all_zero,
  one_factor,
  imprecise,
  not_a_number,    // what the judge filled the output with, perhaps
  computed_nan,    // made by arithmetic
  unwritten_tail,  // as not_a_number, of the last elements alone
};

constexpr std::array<std::string_view, 53> kCauses = {"none",
                                                      "out-of-bounds",
                                                      "null-pointer",
                                                      "illegal-address",
                                                      "use-after-free",
                                                      "read-only",
                                                      "host-buffer",
                                                      "peer-access",
                                                      "misaligned",
                                                      "foreign-stack",
                                                      "stack",
                                                      "uninitialised",
                                                      "race-shared",
                                                      "race-global",
                                                      "race-streams",
                                                      "copy-under-way",
                                                      "divergent-barrier",
                                                      "barrier-deadlock",
                                                      "endless-wait",
                                                      "inactive-lane",
                                                      "warp-mask",
                                                      "host-function",
                                                      "kernel-launch",
                                                      "assertion",
                                                      "device-printf",
                                                      "device-call",
                                                      "host-access",
                                                      "memory-leak",
                                                      "handle-leak",
                                                      "request-leak",
                                                      "refused-call",
                                                      "rank-deadlock",
                                                      "early-reuse",
                                                      "device-message",
                                                      "group-order",
                                                      "buffer-overlap",
                                                      "collective-bounds",
                                                      "message-mismatch",
                                                      "collective-mismatch",
                                                      "host-wait",
                                                      "host-copy",
                                                      "host-decides",
                                                      "stale-state",
                                                      "timeout",
                                                      "timeout-memory",
                                                      "ended",
                                                      "crashed",
                                                      "all-zero",
                                                      "one-factor",
                                                      "imprecise",
                                                      "not-a-number",
                                                      "computed-nan",
                                                      "unwritten-tail"};
static_assert(kCauses.size() == static_cast<std::size_t>(Cause::unwritten_tail) + 1);

constexpr std::string_view name_of(Cause cause) { return kCauses.at(static_cast<std::size_t>(cause)); }

// `none` where there is no such cause.
constexpr Cause cause_named(std::string_view name) {
  for (std::size_t i = 0; i < kCauses.size(); ++i)
    if (kCauses.at(i) == name) return static_cast<Cause>(i);
  return Cause::none;
}

// A number that a worker sent, which may be any.
constexpr Cause cause_of(std::uint32_t number) {
  return number < kCauses.size() ? static_cast<Cause>(number) : Cause::none;
}

// Says something of values, which may be secret.
constexpr bool of_answers(Cause cause) { return cause >= Cause::all_zero; }

}  // namespace ridge
