// How often a warp waits for its loads: x86 text to steps, steps to waits.
#include <sstream>
#include <string>

#include "simt/rewrite/assembly/load_waits.hpp"
#include "support/catch.hpp"

using namespace ridge::simt;

namespace {

struct Code {
  std::string lines;
  std::vector<int> next;  // blocks that may follow
};

std::vector<int> waits(const std::vector<Code>& blocks) {
  LoadFlow flow;
  Accesses accesses;
  LoadSteps steps;
  accesses.begin_function();
  for (const Code& block : blocks) {
    flow.graph.successors.push_back(block.next);
    auto& out = flow.steps.emplace_back();
    if (flow.steps.size() > 1) accesses.forget();
    std::istringstream lines(block.lines);
    for (std::string text; std::getline(lines, text);) {
      const AssemblyLine line = parse_line(text);
      if (line.kind != AssemblyLine::Kind::instruction) continue;
      const Instruction i = parse_instruction(line);
      std::string refused;
      accesses.before(line, i, refused);
      const auto more = steps.of(line, i, accesses.frame_uses(), i.target == "own");
      out.insert(out.end(), more.begin(), more.end());
    }
  }
  flow.graph.entries = {0};
  flow.places = weak_topological_order(flow.graph);
  return load_waits(flow);
}

int once(const std::string& lines) { return waits({{lines, {}}})[0]; }

// A loop of one block between two others.
int in_loop(const std::string& lines, const std::string& before = "") {
  return waits({{before, {1}}, {lines, {1, 2}}, {"", {}}})[1];
}

}  // namespace

TEST_CASE("load waits: loads whose addresses are known are under way together") {
  CHECK(once("movl (%rdi), %eax\n movl (%rsi), %ecx\n addl %eax, %ecx\n") == 1);
  // The other's address was loaded.
  CHECK(once("movq (%rdi), %rax\n movl (%rax), %ecx\n addl $1, %ecx\n") == 2);
  CHECK(once("movslq (%rdi), %rax\n movss (%rsi,%rax,4), %xmm0\n addss %xmm0, %xmm1\n") == 2);
  CHECK(once("addl %eax, %ecx\n") == 0);
  // Nobody needs it here.
  CHECK(once("movl (%rdi), %eax\n") == 0);
}

TEST_CASE("load waits: shared memory, constants and the frame are near") {
  CHECK(once("movss %fs:tile@tpoff(,%rax,4), %xmm0\n addss %xmm0, %xmm1\n") == 0);
  CHECK(once("movq %fs:0, %rax\n leaq tile@tpoff(%rax,%rcx,4), %rbx\n movss (%rbx), %xmm0\n addss %xmm0, %xmm1\n") ==
        0);
  CHECK(once("leaq 16(%rsp), %rbx\n movss (%rbx), %xmm0\n addss %xmm0, %xmm1\n") == 0);
  CHECK(once("mulss .LCPI0_0(%rip), %xmm0\n") == 0);
}

TEST_CASE("load waits: a value is in flight while it is kept in the frame") {
  const std::string frame = "subq $40, %rsp\n";
  CHECK(once(frame + "movl (%rdi), %eax\n movl %eax, 8(%rsp)\n movslq 8(%rsp), %rcx\n movl (%rsi,%rcx,4), %edx\n"
                     "addl $1, %edx\n") == 2);
  // Another place of it.
  CHECK(once(frame + "movl (%rdi), %eax\n movl %eax, 8(%rsp)\n movslq 12(%rsp), %rcx\n movl (%rsi,%rcx,4), %edx\n"
                     "addl $1, %edx\n") == 1);
}

TEST_CASE("load waits: stores to memory and barriers keep loads in order") {
  const std::string load = "movl (%rdi), %eax\n", other = "movl 4(%rdi), %ecx\n addl %eax, %ecx\n";
  CHECK(once(load + "movl %eax, (%rsi)\n" + other) == 2);
  CHECK(once(load + "movl %eax, %fs:tile@tpoff\n" + other) == 1);
  CHECK(once(load + "movl %eax, %fs:tile@tpoff\n call _ZN10ridge_simt7barrierEPKci\n" + other) == 2);
  CHECK(once(load + "addl $1, %eax\n call own\n" + other) == 2);
  CHECK(once(load + "call __tsan_read4\n" + other) == 1);
}

TEST_CASE("load waits: a loop that follows pointers waits once an iteration, wherever it begins") {
  const std::string count = "addl $-1, %ebp\n jne .LBB0_1\n";
  // The next pointer is loaded at the iteration's end, or at its beginning.
  CHECK(in_loop("movslq %r14d, %r13\n movl (%r12,%r13,4), %r14d\n shlq $4, %r13\n movaps (%r15,%r13), %xmm0\n"
                "addps %xmm0, %xmm1\n" +
                    count,
                "movl (%rdx), %r14d\n") == 1);
  CHECK(in_loop("movslq (%rbx), %r14\n leaq (%r12,%r14,4), %rbx\n shlq $4, %r14\n movaps (%r15,%r14), %xmm0\n"
                "addps %xmm0, %xmm1\n" +
                count) == 1);
  // Two pointers, one behind the other.
  CHECK(in_loop("movslq (%rbx), %r14\n movslq (%r12,%r14,4), %r13\n leaq (%r12,%r13,4), %rbx\n" + count) == 2);
}

TEST_CASE("load waits: an iteration that waits for none before it waits for its own loads") {
  const std::string count = "addl $-1, %ebp\n jne .LBB0_1\n";
  CHECK(in_loop("movss (%rdi,%rbp,4), %xmm0\n addss %xmm0, %xmm1\n" + count) == 1);
  CHECK(in_loop("movss (%rdi,%rbp,4), %xmm0\n addss %xmm0, %xmm1\n movss (%rsi,%rbp,4), %xmm0\n"
                "addss %xmm0, %xmm1\n" +
                count) == 1);
  CHECK(in_loop("movslq (%rdi,%rbp,4), %rax\n movss (%rsi,%rax,4), %xmm0\n addss %xmm0, %xmm1\n" + count) == 2);
  CHECK(in_loop("movss (%rdi,%rbp,4), %xmm0\n movss %xmm0, (%rsi,%rbp,4)\n" + count) == 1);
  // What was loaded decides whether there is a next iteration.
  CHECK(in_loop("movl (%rdi,%rbp,4), %eax\n cmpl %eax, %ecx\n jne .LBB0_1\n") == 1);
  CHECK(in_loop("addss %xmm0, %xmm1\n" + count) == 0);
}

TEST_CASE("load waits: a call waits for its arguments, not for those of a hook") {
  const std::string load = "movslq (%rbx), %rax\n leaq (%r13,%rax,4), %rbp\n movq %rbp, %rdi\n";
  const std::string other = "call _Z5otherv\n movl (%r12,%rax,4), %ecx\n addl $1, %ecx\n";
  CHECK(once(load + other) == 2);
  CHECK(once(load + "call __tsan_read4\n" + other) == 1);
}

TEST_CASE("load waits: loads before a loop are waited for once") {
  const auto w = waits({{"movl (%rdx), %r14d\n", {1}}, {"addl %r14d, %ecx\n jne .LBB0_1\n", {1, 2}}, {"", {}}});
  CHECK(w[0] == 1);
  CHECK(w[1] == 0);
}

TEST_CASE("load waits: a value that the next block needs is waited for there") {
  const auto w = waits({{"movl (%rdi), %eax\n", {1, 2}}, {"movl (%rsi), %ecx\n", {2}}, {"addl %eax, %ecx\n", {}}});
  CHECK(w[0] == 0);
  CHECK(w[1] == 0);
  CHECK(w[2] == 1);
}
