// What calls of files share, whoever answers them: the rank that a thread plays, and its death.
#include "client.hpp"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ridge::files {
namespace {
thread_local int rank = 0;
thread_local std::jmp_buf* way_out = nullptr;
constexpr int kKilled = 137;  // as a shell reports SIGKILL
}  // namespace

int playing() { return rank; }

}  // namespace ridge::files

using namespace ridge::files;

extern "C" void ridge_files_died() {
  if (way_out != nullptr) std::longjmp(*way_out, 1);
  std::fprintf(stderr, "this rank died in a call of files\n");
  std::_Exit(kKilled);
}

extern "C" bool ridge_files_lives(int new_rank, void (*body)(void*), void* argument) {
  std::jmp_buf out;
  struct Frame {
    std::jmp_buf* way_out;
    int rank;
  };
  static thread_local Frame before[8];  // not on the stack: longjmp would leave its values open
  static thread_local int depth = 0;
  if (depth == 8) return false;
  before[depth++] = {way_out, rank};
  way_out = &out;
  rank = new_rank;
  const bool lived = setjmp(out) == 0 ? (body(argument), true) : false;
  --depth;
  way_out = before[depth].way_out;
  rank = before[depth].rank;
  return lived;
}

extern "C" long long ridge_files_mark(long long number, long long value) {
  Request r;
  r.op = Op::mark;
  r.offset = number;
  r.ticket = static_cast<std::uint64_t>(value);
  Reply reply;
  ridge_files_lock(true);
  ridge_files_call(&r, &reply);
  ridge_files_lock(false);
  return reply.result;
}
