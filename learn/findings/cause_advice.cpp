#include "learn/findings/cause_advice.hpp"

namespace ridge::loop {

const char* advice_of(Cause cause) {
  switch (cause) {
    case Cause::request_leak:
    case Cause::early_reuse:
      return "MPI_Isend and MPI_Irecv only begin: the buffer is MPI's until MPI_Wait says that it is yours again.";
    case Cause::memory_leak:
    case Cause::handle_leak:
      return "What a call makes and no later call uses must be freed by it; what all calls use, the first one makes.";
    case Cause::host_wait:
      return "While the host waits it issues nothing, and the device runs dry. An event that is recorded in one stream "
             "and waited for by another orders the two without it.";
    case Cause::host_copy:
    case Cause::host_decides:
      return "Values live on the device: a kernel computes what you want to know of them, and the next kernel reads it "
             "there.";
    case Cause::stale_state:
      return "What is kept in static variables, in a graph for instance, holds addresses and values of the call that "
             "made it: make it anew or update it where they differ.";
    case Cause::group_order:
      return "Calls between ncclGroupStart and ncclGroupEnd have no order: what is sent must be complete before the "
             "group, and what arrives needs a buffer of its own.";
    case Cause::device_message:
      return "Copy it to page-locked memory first and wait for that copy: this MPI sends and receives there.";
    case Cause::buffer_overlap:
      return "Elements are sent while others arrive: only the in-place forms of NCCL's manual may share memory.";
    case Cause::host_access:
      return "The host can hold a device pointer, hand it to kernels and copies, and do arithmetic with it; it can't "
             "look where it points.";
    case Cause::race_shared:
      return "Two threads of a block touch the same word and nothing orders them: a __syncthreads() belongs between "
             "the write and the read.";
    case Cause::race_global:
      return "Where a flag or a counter tells other threads that data is there, __threadfence() belongs between the "
             "store of the data and the flag. Otherwise a __syncthreads() orders the threads of one block, and the end "
             "of the kernel those of all.";
    case Cause::copy_under_way:
      return "An asynchronous copy has arrived when its thread has waited for its batch, and for other threads after a "
             "barrier behind that. Count the batches that are under way at this wait: how many may be left?";
    case Cause::race_streams:
      return "Two accesses to the same address are not ordered: what must have happened before the second? An event "
             "covers only what was in its stream when it was recorded.";
    case Cause::out_of_bounds:
      return "The index leaves the buffer: compare the last thread's index with the size, and mind sizes that are no "
             "multiple of the block.";
    case Cause::misaligned:
      return "A load of 8 or 16 bytes needs an address that is a multiple of that: a float4 at an odd row width has "
             "none.";
    case Cause::uninitialised:
      return "It reads memory that nobody wrote since it was allocated. Did a thread return, or pass by an `if`, "
             "before "
             "it had stored its part? Is the block, or the loop that fills the memory, as large as what is read?";
    case Cause::inactive_lane:
      return "A shuffle reads from lanes that call it too. Call it outside of the `if`, by all lanes, with a value "
             "that "
             "changes nothing for those that have none; or give it a width, or a mask of the lanes that take part.";
    case Cause::warp_mask:
      return "Every lane that the mask names must reach this call, and all of them must pass the same mask.";
    case Cause::kernel_launch:
      return "Launch it from the function that the judge calls, behind the kernel that it needs: one stream keeps the order.";
    case Cause::host_function:
      return "A kernel can call functions that are declared __device__, and CUDA's own.";
    case Cause::timeout_memory:
      return "The emulator's device memory is this machine's: an array that a GPU fills in milliseconds takes seconds "
             "here.";
    case Cause::endless_wait:
      return "A block that polls waits for another block's store: is it a block that has started already, since "
             "tickets give numbers in the order of the starts, and is the word that it polls `volatile` or atomic?";
    case Cause::timeout:
      return "Which loop's condition can stay true for ever? A thread that waits for a value needs another one that "
             "writes it. A barrier, too, waits for ever where not all threads of its block reach it.";
    case Cause::divergent_barrier:
    case Cause::barrier_deadlock:
      return "A barrier must be reached by all threads of its block: none inside of an `if` that only some take, and "
             "no `return` before it.";
    case Cause::rank_deadlock:
      return "Every rank must make the calls that its peers wait for, in an order that both sides share.";
    case Cause::message_mismatch:
      return "Messages between two ranks pair up in the order of the calls: what one sends next is what the other "
             "receives next.";
    case Cause::collective_mismatch:
      return "A collective is one call of all ranks, with the same count, type and root: a rank's own data must not "
             "decide them.";
    case Cause::ended:
      return "The program ended before it had answered. What it printed may say why.";
    case Cause::one_factor:
      return "One factor for all: look for a sum that is not divided, a term that is added twice, an average of "
             "averages, or a sign.";
    case Cause::all_zero:
      return "Zeros, where a value belongs. Was nothing added up there, because a loop or an index never reaches these "
             "inputs, or was the result stored before it was complete?";
    case Cause::computed_nan:
      return "A value overflowed on the way, or an operation has no result: look for an exponential or a product that "
             "grows without bound, a division by zero, or a maximum of -infinity that is subtracted from itself.";
    case Cause::imprecise:
      return "Every element is close, so each index is right: look for a narrower type, a term that is missing, or one "
             "variable that takes a long sum.";
    default:
      return nullptr;
  }
}

}  // namespace ridge::loop
