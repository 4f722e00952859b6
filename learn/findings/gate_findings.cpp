#include "learn/findings/gate_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "learn/findings/timeline_findings.hpp"

namespace ridge::loop {

namespace {

using Sources = std::map<std::string, std::string>;

// A failed gate in a few words.
std::string gate_headline(const CheckResult& c) {
  static const std::map<std::string, const char*> known = {
      {"build", "it does not compile"},
      {"run", "it does not run to its end"},
      {"memory", "it uses memory wrongly"},
      {"time-limit", "it does not end in time"},
      {"traffic", "messages are not those that the task asks for"},
      {"deadlock", "ranks wait for each other"},
      {"launch", "a call was refused"},
      {"mismatch", "ranks do not make the same calls"},
      {"device", "the host does what belongs to the device"},
      {"agree", "ranks have different answers"},
      {"in-flight", "too much is kept at a time"},
      {"bubble", "ranks are idle longer than they must be"},
  };
  if (c.cause == Cause::request_leak) return "it does not wait for its messages";
  if (c.cause == Cause::inactive_lane || c.cause == Cause::warp_mask) return "lanes of a warp miss each other";
  if (c.cause == Cause::memory_leak || c.cause == Cause::handle_leak) return "what it makes is never freed";
  const auto at = known.find(c.name);
  return at == known.end() ? "the answer is wrong" : at->second;
}

// The usual origin of a cause; null if the gate alone says more.
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
             "the "
             "write and the read.";
    case Cause::race_global:
      return "Where a flag or a counter tells other threads that data is there, __threadfence() belongs between the "
             "store "
             "of the data and the flag. Otherwise a __syncthreads() orders the threads of one block, and the end of "
             "the "
             "kernel those of all.";
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
    case Cause::host_function:
      return "A kernel can call functions that are declared __device__, and CUDA's own.";
    case Cause::timeout_memory:
      return "The emulator's device memory is this machine's: an array that a GPU fills in milliseconds takes seconds "
             "here.";
    case Cause::endless_wait:
      return "A block that polls waits for another block's store: is it a block that has started already, since "
             "tickets "
             "give numbers in the order of the starts, and is the word that it polls `volatile` or atomic?";
    case Cause::timeout:
      return "Which loop's condition can stay true for ever? A thread that waits for a value needs another one that "
             "writes it. A barrier, too, waits for ever where not all threads of its block reach it.";
    case Cause::divergent_barrier:
    case Cause::barrier_deadlock:
      return "A barrier must be reached by all threads of its block: none inside of an `if` that only some take, and "
             "no "
             "`return` before it.";
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

// The lines of `file` that the first sentence of the message names, "... at sgemm.cu:21, against ... at sgemm.cu:18".
std::vector<int> lines_named(const std::string& message, const std::string& file) {
  std::vector<int> lines;
  for (std::size_t at = message.find(file + ":"); at != std::string::npos; at = message.find(file + ":", at + 1))
    lines.push_back(std::atoi(message.c_str() + at + file.size() + 1));
  return lines;
}

// True where a barrier stands between the two accesses of a race.
bool barrier_between(const std::string& message, const Sources& sources) {
  for (const auto& [file, text] : sources) {
    const std::vector<int> lines = lines_named(message, file);
    if (lines.size() < 2) continue;
    const auto [first, last] = std::minmax(lines[0], lines[1]);
    std::istringstream in(text);
    int n = 0;
    for (std::string line; std::getline(in, line);)
      if (++n > first && n < last && line.substr(0, line.find("//")).find("__syncthreads") != std::string::npos)
        return true;
  }
  return false;
}

// Bytes that the message says an address lies beyond its allocation.
double bytes_beyond(const std::string& message) {
  const auto at = message.find(" bytes past the end");
  if (at == std::string::npos) return 0;
  const auto from = message.find_last_not_of("0123456789", at - 1);
  return std::strtod(message.c_str() + (from == std::string::npos ? 0 : from + 1), nullptr);
}

// Bytes of the allocation that the message names, and at least as many as a block of floats has.
double bytes_of_allocation(const std::string& message) {
  const auto at = message.find(" allocation of ");
  return std::max(4096.0, at == std::string::npos ? 0 : std::strtod(message.c_str() + at + 15, nullptr));
}

bool of_one_rank(const std::string& name) { return name.starts_with("1 rank"); }

// What the failing case, which is the last one, has that those before it have not.
std::string case_advice(const TaskResult& t) {
  std::vector<std::string> right;
  for (const CaseResult& c : t.cases)
    if (c.passed) right.push_back(c.name);
  if (right.empty())
    return "This is the first case: compute its first wrong element by hand, with the indices that your threads use.";
  if (std::all_of(right.begin(), right.end(), of_one_rank) && !of_one_rank(t.cases.back().name))
    return "All cases of 1 rank are right, and this is the first of more. What does another rank change: an offset, "
           "which part is its own, a sum over the ranks that is missing or made twice?";
  constexpr std::size_t kNamed = 4;
  const std::size_t from = right.size() - std::min(right.size(), kNamed);
  std::string names;
  for (std::size_t i = from; i < right.size(); ++i) names += (i > from ? "; " : "") + right[i];
  return fmt::format(
      "{} {} right ({}{}). What does this one have that {} not: a second block or tile, a second step "
      "of a loop, a row that is longer than a warp or a block, a tail?",
      right.size() == 1 ? std::string("The case before it") : fmt::format("{} cases before it", right.size()),
      right.size() == 1 ? "is" : "are", from > 0 ? "the last: " : "", names,
      right.size() == 1 ? "it has" : "they have");
}

std::string gate_advice(const CheckResult& c, const TaskResult& t, const Sources& sources) {
  if (c.name == "build")
    return "The first message of the compiler is the one to follow; later ones often come from it.";
  if (c.cause == Cause::race_shared && barrier_between(c.message, sources))
    return "A __syncthreads() stands between these lines, so one of the two accesses is of the next round of a loop, "
           "or "
           "of the next call of a function: a barrier is missing behind the last read, or the next round needs memory "
           "of "
           "its own.";
  if (c.cause == Cause::collective_bounds && c.message.find("as an unsigned number") != std::string::npos)
    return "A count below zero becomes a huge number, since counts are unsigned: which subtraction goes below 0 in "
           "this "
           "case, and what is to happen there?";
  if (c.cause == Cause::collective_bounds)
    return "The call reaches past the end of the buffer: where does this part begin, and how many elements has it, "
           "where "
           "n is no multiple of the number of ranks? The count is in elements, not in bytes.";
  constexpr double kFar = 1 << 30;  // bytes: no size that is slightly wrong leads there
  if (c.cause == Cause::out_of_bounds && bytes_beyond(c.message) > kFar)
    return "The address is far outside, so the index itself is wrong: it may come from memory that nobody has set, "
           "such "
           "as a counter in the workspace, or from a negative number that became unsigned.";
  if (c.cause == Cause::out_of_bounds && bytes_beyond(c.message) > 0.25 * bytes_of_allocation(c.message))
    return "The address is far behind the end, not just behind the last element: is the length of a row the right one, "
           "where rows and columns differ, and is each index multiplied by what it counts?";
  if (c.cause == Cause::out_of_bounds && c.message.find("before the beginning") != std::string::npos)
    return "The index is negative here: check the first rows and columns as well as the last ones.";
  if (c.cause == Cause::out_of_bounds && c.message.find("block (0,0,0), thread (0,0,0)") != std::string::npos)
    return "This is the first thread of the first block, so the grid is not too large: the pointer that the kernel "
           "got, or what is added to it, is outside already. Where does this part begin, and how long is it here?";
  if (const char* advice = advice_of(c.cause)) return advice;
  if (c.name == "launch")
    return "An argument is not one that the call takes. Look at what your calls return, cudaError_t or ncclResult_t: "
           "one that is refused does nothing.";
  if (c.name == "agree")
    return "Each rank may be near to the sum, but copies drift apart where ranks add in different orders: add in one "
           "order, or pass the sum on.";
  if (c.name == "traffic")
    return "Draw the messages of this case, who sends how much to whom in which step, and compare that with what the "
           "lesson derives.";
  if (c.cause == Cause::none || c.cause == Cause::not_a_number)
    if (std::string advice = wrong_order_advice(t); c.name == "correct" && !advice.empty()) return advice;
  if (c.cause == Cause::unwritten_tail) {
    const bool copied = t.timeline && std::any_of(t.timeline->items.begin(), t.timeline->items.end(),
                                                  [](const auto& i) { return i.kind == "d2h"; });
    return fmt::format(
        "NaN is what the judge puts into every output before the call, and the last elements alone are wrong. Does the "
        "work cover all of them where their number is no multiple of a block, or of a chunk? Is the last part {}?",
        copied ? "computed, and is it copied to the host" : "launched, and does the index reach it");
  }
  const auto says = [&](std::string_view part) { return c.message.find(part) != std::string::npos; };
  if (c.cause == Cause::not_a_number && says("the judge's fill of the workspace"))
    return "The workspace may hold anything when your function is called. A sum or a counter that you keep there has "
           "to "
           "be set first, and a part that another block writes has to be there before it is read.";
  if (c.cause == Cause::not_a_number && says("as new memory holds it"))
    return "Shared memory and memory from cudaMalloc hold anything at first. Does the loop that fills it reach every "
           "element that is read, those past the end of the input too?";
  if (c.cause == Cause::not_a_number && says("the judge's fill: no thread wrote it"))
    return "No thread wrote this element: is the kernel launched, with enough threads, and does the index reach it?";
  if (c.cause == Cause::not_a_number && says("the judge's fill of outputs"))
    return fmt::format(
        "No thread wrote this element, or its first access was an addition: is the kernel launched, with enough "
        "threads, "
        "does the index reach it, and is the element set before anything is added to it?{}",
        says("ranks") ? " Or was it to come from another rank?" : "");
  if (c.cause == Cause::not_a_number) {
    const bool ranks = c.message.substr(0, c.message.find('\n')).find("ranks") != std::string::npos;
    return fmt::format(
        "The judge fills every output with NaN before the call. Either no thread wrote this element: is the kernel "
        "launched, with enough threads, and does the index reach it? Or it was computed from memory that was not "
        "set{}: "
        "a sum that was not set to 0 first, a counter in the workspace that was not cleared, or data whose copy has "
        "not "
        "arrived.",
        ranks ? ", or never came from another rank" : "");
  }
  // Where the numbers told something, the message ends with it.
  const std::string line = c.message.substr(0, c.message.find('\n'));
  if (const auto counted = line.find("wrong; "); counted != std::string::npos)
    return c.message.find("; the error is ", counted) == counted + 5 &&
                   line.find("; ", counted + 7) == std::string::npos  // nothing more was told
               ? "Where are the values kept on their way: registers, shared memory, the workspace, a result between "
                 "two kernels, a message? Each of them must have the precision that the lesson names."
               : line.ends_with("all wrong elements are 0") ? advice_of(Cause::all_zero)
                                                            : "The end of the message above says what the wrong "
                                                              "numbers are. Which step of your code gives these?";
  return c.message.find(" are wrong") == std::string::npos ? std::string() : case_advice(t);
}

}  // namespace

Finding failed_gate(const CheckResult& c, const TaskResult& t, const Sources& sources) {
  Finding f;
  const std::string line = c.message.substr(0, c.message.find('\n'));
  f.what = c.passed ? "" : c.name == "build" ? "it does not compile" : c.message;
  // The place in "... at gather.cu:11".
  if (auto at = line.rfind(" at "); at != std::string::npos && line.find(".cu:", at) != std::string::npos)
    f.where = line.substr(at + 4);
  f.gate = gate_headline(c);
  f.why = gate_advice(c, t, sources);
  return f;
}

}  // namespace ridge::loop
