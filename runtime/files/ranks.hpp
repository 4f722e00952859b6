// Ranks that die. A lab's entry.cu plays several ranks in one process, one after another or as its own loop wants, and
// the judge's plan says when one of them dies: in a given write, or at a given step.
#pragma once
#include <csetjmp>
#include <cstdio>
#include <cstdlib>

#include "files.hpp"

namespace files {

namespace detail {
inline std::jmp_buf*& way_out() {
  static thread_local std::jmp_buf* out = nullptr;
  return out;
}
// A dead rank runs nothing any more: no destructor, no handler.
inline void died() {
  if (way_out() == nullptr) {
    std::fprintf(stderr, "this rank died in a call of files\n");
    std::_Exit(137);
  }
  std::longjmp(*way_out(), 1);
}
}  // namespace detail

// For entry.cu. Runs `body` as rank `rank` and returns true, or false where the rank died in one of its calls of files:
// `body` then stops there for good, as a process does under kill -9. Its memory is lost, what it wrote is as the crash
// left it, and its later calls, until the judge lets the rank start again, fail the same way.
template <class Body>
bool lives_through(int rank, Body&& body) {
  std::jmp_buf out;
  std::jmp_buf* const before = detail::way_out();
  const int rank_before = detail::rank();
  detail::way_out() = &out;
  detail::rank() = rank;
  bool lived = false;
  if (setjmp(out) == 0) {
    body();
    lived = true;
  }
  detail::way_out() = before;
  detail::rank() = rank_before;
  return lived;
}

// Says that the calling rank begins step `number`. The plan may let it die here.
inline void step(long long number) {
  detail::Request r;
  r.op = detail::Op::step;
  r.offset = number;
  detail::call(r);
}

// For entry.cu: a note to the judge, whose meaning is the lab's (FileSystem::on_mark). Returns the judge's answer.
inline long long mark(long long number, long long value = 0) {
  detail::Request r;
  r.op = detail::Op::mark;
  r.offset = number;
  r.ticket = static_cast<std::uint64_t>(value);
  return detail::call(r).result;
}

}  // namespace files
