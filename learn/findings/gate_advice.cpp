#include "learn/findings/gate_advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "learn/findings/case_advice.hpp"
#include "learn/findings/cause_advice.hpp"
#include "learn/findings/hopper_advice.hpp"
#include "learn/findings/timeline_findings.hpp"

namespace ridge::loop {

namespace {

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

// The first line of `file` that gives 0 where a sum is not above 0, as a NaN is not: "softmax.cu:12"; empty: none.
std::string zero_instead_of_nan(const Sources& sources, const std::string& file) {
  const auto text = sources.find(file);
  std::istringstream in(text == sources.end() ? std::string() : text->second);
  int n = 1;
  for (std::string line; std::getline(in, line); ++n) {
    line.resize(std::min(line.find("//"), line.size()));
    const std::size_t asks = line.find(" > 0 ? ");
    if (asks != std::string::npos && line.find(" : 0", asks) != std::string::npos) return fmt::format("{}:{}", file, n);
  }
  return {};
}

std::string zeros_advice(const Sources& sources, const std::string& file) {
  const std::string place = zero_instead_of_nan(sources, file);
  if (place.empty()) return advice_of(Cause::all_zero);
  return fmt::format(
      "Zeros, where a value belongs. {} gives 0 where its number is not above 0, and NaN is not: does it become NaN on the "
      "way, from -infinity - (-infinity) or from 0 / 0? If not, was nothing added up there, because a loop or an index "
      "never reaches these inputs?",
      place);
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

}  // namespace

bool not_linked(const CheckResult& c) {
  return c.name == "build" && c.message.find(" cannot be linked:") < c.message.find('\n');
}

std::string gate_advice(const CheckResult& c, const TaskResult& t, const Sources& sources, const std::string& file) {
  if (not_linked(c))
    return "The message above names the function or variable that does not fit, and where it should be.";
  if (c.name == "build")
    return "The first message of the compiler is the one to follow; later ones often come from it.";
  if (c.name == "deadlock" && c.message.find("waits for ever in step") != std::string::npos)
    return "Draw the steps of both ranks below each other, with an arrow for each message: a step that needs what a later "
           "step of the other rank sends must come later itself, or that one earlier.";
  if (c.cause == Cause::race_shared || c.cause == Cause::barrier_deadlock || c.cause == Cause::copy_under_way)
    if (const char* advice = hopper_advice(c.message)) return advice;
  if (c.cause == Cause::race_shared && barrier_between(c.message, sources))
    return "A __syncthreads() stands between these lines, so one of the two accesses is of the next round of a loop, "
           "or of the next call of a function: a barrier is missing behind the last read, or the next round needs "
           "memory of its own.";
  if (c.cause == Cause::collective_bounds && c.message.find("as an unsigned number") != std::string::npos)
    return "A count below zero becomes a huge number, since counts are unsigned: which subtraction goes below 0 in "
           "this case, and what is to happen there?";
  if (c.cause == Cause::collective_bounds)
    return "The call reaches past the end of the buffer: where does this part begin, and how many elements has it, "
           "where n is no multiple of the number of ranks? The count is in elements, not in bytes.";
  constexpr double kFar = 1 << 30;  // bytes: no size that is slightly wrong leads there
  if (c.cause == Cause::out_of_bounds && bytes_beyond(c.message) > kFar)
    return "The address is far outside, so the index itself is wrong: it may come from memory that nobody has set, "
           "such as a counter in the workspace, or from a negative number that became unsigned.";
  if (c.cause == Cause::out_of_bounds && bytes_beyond(c.message) > 0.25 * bytes_of_allocation(c.message))
    return "The address is far behind the end, not just behind the last element: is the length of a row the right one, "
           "where rows and columns differ, and is each index multiplied by what it counts?";
  if (c.cause == Cause::out_of_bounds && c.message.find("before the beginning") != std::string::npos)
    return "The index is negative here: check the first rows and columns as well as the last ones.";
  if (c.cause == Cause::out_of_bounds && c.message.find("block (0,0,0), thread (0,0,0)") != std::string::npos)
    return "This is the first thread of the first block, so the grid is not too large: the pointer that the kernel "
           "got, or what is added to it, is outside already. Where does this part begin, and how long is it here?";
  if (c.cause == Cause::all_zero) return zeros_advice(sources, file);
  if (const char* advice = advice_of(c.cause)) return advice;
  if (c.name == "launch")
    return "An argument is not one that the call takes. Look at what your calls return, cudaError_t or ncclResult_t: "
           "one that is refused does nothing.";
  if (c.name == "agree")
    return "Each rank may be near to the sum, but copies drift apart where ranks add in different orders: add in one "
           "order, or pass the sum on.";
  if (c.message.find(" other bits") != std::string::npos && c.message.find("order") != std::string::npos)
    return "Addition of floating-point numbers rounds, so its result depends on the order. Atomic additions come in the "
           "order in which blocks and warps happen to run. Which sum has terms from several of them? Let one thread, or "
           "one block in a fixed order, add up all terms of an element, or store the parts and add them in a second step.";
  if (c.name == "questions")
    return "Every question counts, also one that is asked twice. Print what you ask, keep the answers, and decide before "
           "asking which question would change your choice.";
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
           "to be set first, and a part that another block writes has to be there before it is read.";
  if (c.cause == Cause::not_a_number && says("as new memory holds it"))
    return "Shared memory and memory from cudaMalloc hold anything at first. Does the loop that fills it reach every "
           "element that is read, those past the end of the input too?";
  if (c.cause == Cause::not_a_number && says("the judge's fill: no thread wrote it"))
    return "No thread wrote this element: is the kernel launched, with enough threads, and does the index reach it?";
  if (c.cause == Cause::not_a_number && says("the judge's fill of outputs"))
    return fmt::format(
        "No thread wrote this element, or its first access was an addition: is the kernel launched, with enough "
        "threads, does the index reach it, and is the element set before anything is added to it?{}",
        says("ranks") ? " Or was it to come from another rank?" : "");
  if (c.cause == Cause::not_a_number) {
    const bool ranks = c.message.substr(0, c.message.find('\n')).find("ranks") != std::string::npos;
    return fmt::format(
        "The judge fills every output with NaN before the call. Either no thread wrote this element: is the kernel "
        "launched, with enough threads, and does the index reach it? Or it was computed from memory that was not "
        "set{}: a sum that was not set to 0 first, a counter in the workspace that was not cleared, or data whose copy "
        "has not arrived.",
        ranks ? ", or never came from another rank" : "");
  }
  // Where the numbers told something, the message ends with it.
  const std::string line = c.message.substr(0, c.message.find('\n'));
  if (line.find("bits are cut off, not rounded") != std::string::npos)
    return "A conversion that keeps the upper bits rounds towards zero. The bits that are dropped decide whether the next "
           "larger one is nearer: which function of the type rounds to the nearest?";
  if (line.find("no rank has sent a message") != std::string::npos)
    return "In this case the ranks exchange nothing. Which step of yours sends, and does it run with this many ranks, with "
           "so many a node?";
  if (const auto right = line.rfind("; `"); right != std::string::npos && line.ends_with("` is right")) {
    const auto quote = line.find(": ", line.find("wrong element"));
    const std::string wrong = line.substr(quote + 2, line.find_first_of("[ ", quote + 2) - quote - 2);
    return fmt::format(
        "{} is right, so the work behind it is done. Which thread writes {}, after which step, and does it "
        "hold the whole result then, or the part of its warp?",
        line.substr(right + 2, line.find('`', right + 3) - right - 1), wrong);
  }
  if (const auto counted = line.find("wrong; "); counted != std::string::npos)
    return c.message.find("; the error is ", counted) == counted + 5 &&
                   line.find("; ", counted + 7) == std::string::npos  // nothing more was told
               ? "Where are the values kept on their way: registers, shared memory, the workspace, a result between "
                 "two kernels, a message? Each of them must have the precision that the lesson names."
               : line.ends_with("all wrong elements are 0") ? zeros_advice(sources, file)
                                                            : "The end of the message above says what the wrong "
                                                              "numbers are. Which step of your code gives these?";
  return c.message.find(" are wrong") == std::string::npos ? std::string() : case_advice(t);
}

}  // namespace ridge::loop
