// The parts of the worker that differ between a GPU and the emulator.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "../files/request.hpp"
#include "protocol.hpp"

namespace ridge::worker {

// Maps the judge's buffer behind `fd` (which stays open). Returns nullptr and fills `error` where that fails.
void* map_buffer(int fd, const protocol::Buffer& buffer, std::string& error);

// Before anything of the submission runs: from then on no memory of this process becomes executable. Nothing happens on
// a GPU, whose driver makes code, and where the kernel has no such filter.
void seal_code();
// Host code may follow pointers to device memory (emulator).
void allow_host_access();
void start(protocol::Hello& hello);  // before the first message
// Seconds that a worker looks for its next request before it sleeps. A sleeping core of a virtual machine wakes some
// 50 us late, which a turn of a few milliseconds on a GPU shows.
double stays_awake();
// start_clock and stop_clock enclose the calls of one request. `calls` 0 puts one tiny piece of work on the device, so
// that an empty request pays for the change of process on the GPU as every other one does.
void start_clock(cudaStream_t stream, std::uint32_t calls);
double stop_clock(cudaStream_t stream);  // seconds between the two on the device; waits for the stream
void set_recording(bool on, bool requests = false);
void set_sanitizing(bool on);  // concerns the calls that follow; forgets earlier findings
void before_last_call();       // handles and memory that the last of several calls leaves are leaks
// The emulator can yield what it did as a trace, and another worker can repeat that.
void set_tracing(bool on);
int take_trace(std::string& error);  // its descriptor, or -1 with `error` filled
void mark_call();                    // between two calls
void call_begins(cudaStream_t stream);
void call_ends(cudaStream_t stream);
bool replay(int fd, const protocol::Replay& request, protocol::Done& done);  // false: `done` says why
int take_launches();                                                         // descriptor of the launch records, or -1
void* join_ranks(int socket, int rank, int ranks);                           // ncclComm_t of all ranks
bool set_links(const char* topology, int node, int ranks);
// The first call of CUDA that failed, and the reason, in words; empty where nobody knows. Called before
// cudaGetLastError.
std::string why_refused(cudaError_t& error);
// A request of files in virtual time (emulator): it was issued now, and the host waits for it unless it is
// asynchronous.
void issue_file_request(const files::Reply& reply, const files::Request& request);
void wait_for_file_request(std::uint64_t ticket);
bool describe_fault(protocol::Done& done);  // true where the emulator knows what went wrong

}  // namespace ridge::worker
