// What the checked build adds before memory accesses: nothing where a hook was called for the same bytes, or where they
// lie at a fixed place of the function's frame; a check everywhere else.
#include <sstream>
#include <string>

#include "simt/rewrite/assembly/assembly.hpp"
#include "support/catch.hpp"

using namespace ridge::simt;

namespace {

AnnotatedAssembly annotated(const std::string& body) {
  return annotate_assembly("\t.text\n\t.type\tf, @function\nf:\n" + body + "\n\tret\n\t.size\tf, .-f\n",
                           {.checked = true});
}

int checks(const std::string& body) {
  const std::string text = annotated(body).text;
  int found = 0;
  for (std::size_t at = text.find("__ridge_check_access"); at != std::string::npos;
       at = text.find("__ridge_check_access", at + 1))
    ++found;
  return found;
}

bool refused(const std::string& body) { return !annotated(body).unchecked.empty(); }

const std::string kRead4 = "\n\tcall\t__tsan_read4@PLT\n", kWrite4 = "\n\tcall\t__tsan_write4@PLT\n";

}  // namespace

TEST_CASE("accesses: what a hook announced needs no check") {
  CHECK(checks("\tmovq\t%rbx, %rdi" + kRead4 + "\tmovl\t(%rbx), %eax") == 0);
  CHECK(checks("\tleaq\t4(%rbx,%r12,4), %rdi" + kRead4 + "\tmovss\t4(%rbx,%r12,4), %xmm0") == 0);
  CHECK(checks("\tleaq\t4(%rbx), %r12\n\tmovq\t%r12, %rdi" + kRead4 + "\tmovl\t4(%rbx), %eax") == 0);
  CHECK(checks("\tsubq\t$24, %rsp\n\tmovq\t8(%rsp), %rdi" + kWrite4 + "\tmovq\t8(%rsp), %rax\n\tmovl\t%ecx, (%rax)") ==
        0);
  CHECK(checks("\tmovq\t%fs:0, %rax\n\tleaq\tx@tpoff(%rax,%rbx,4), %rdi" + kRead4 +
               "\tmovl\t%fs:x@tpoff(,%rbx,4), %eax") == 0);
  CHECK(checks("\tleaq\tv(%rip), %rdi" + kRead4 + ".Ltmp7:\n\tmovl\tv(%rip), %eax") == 0);
  CHECK(checks("\tmovq\t%rbx, %rdi\n\tmovl\t$24, %esi\n\tcall\t__tsan_read_range@PLT\n\tmovdqu\t8(%rbx), %xmm0") == 0);
}

// As for x86-64-v2 and v3. The sizes are the memory's, not the registers'.
TEST_CASE("accesses: instructions of newer processors") {
  for (const char* store : {"extractps\t$1, %xmm0, (%rbx)", "vextractps\t$1, %xmm0, (%rbx)",
                            "pextrd\t$1, %xmm0, (%rbx)", "vmovss\t%xmm0, (%rbx)", "vmovd\t%xmm0, (%rbx)"})
    CHECK(checks("\tmovq\t%rbx, %rdi" + kWrite4 + "\t" + store) == 0);
  for (const char* store : {"vmovsd\t%xmm0, (%rbx)", "vmovups\t%xmm0, (%rbx)", "vmovups\t%ymm0, (%rbx)",
                            "vpextrq\t$1, %xmm0, (%rbx)", "vextractf128\t$1, %ymm0, (%rbx)"})
    CHECK(checks("\tmovq\t%rbx, %rdi" + kWrite4 + "\t" + store) == 1);
}

TEST_CASE("accesses: another address, more bytes, a store for a load need one") {
  CHECK(checks("\tmovq\t%rbx, %rdi" + kRead4 + "\tmovq\t(%rbx), %rax") == 1);
  CHECK(checks("\tmovq\t%rbx, %rdi" + kRead4 + "\tmovl\t4(%rbx), %eax") == 1);
  CHECK(checks("\tmovq\t%rbx, %rdi" + kRead4 + "\tmovl\t%eax, (%rbx)") == 1);
  CHECK(checks("\tmovq\t%rbx, %rdi" + kRead4 + "\tmovups\t(%rbx), %xmm0") == 1);
  CHECK(checks("\tmovq\t%rbx, %rdi" + kRead4 + "\taddq\t$4, %rbx\n\tmovl\t(%rbx), %eax") == 1);
  // The register has changed, another function was called, control came from elsewhere.
  CHECK(checks("\tmovq\t%rcx, %rdi" + kRead4 + "\tmovl\t(%rcx), %eax") == 1);
  CHECK(checks("\tmovq\t%rbx, %rdi" + kRead4 + "\tcall\tg\n\tmovl\t(%rbx), %eax") == 1);
  CHECK(checks("\tmovq\t%rbx, %rdi" + kRead4 + ".L3:\n\tmovl\t(%rbx), %eax") == 1);
  // A slot that another store may have changed.
  CHECK(checks("\tsubq\t$24, %rsp\n\tmovq\t8(%rsp), %rdi" + kRead4 +
               "\tmovl\t%eax, 8(%rsp)\n\tmovq\t8(%rsp), %rax\n\tmovl\t(%rax), %eax") == 1);
}

TEST_CASE("accesses: of the stack") {
  const std::string frame = "\tpushq\t%rbx\n\tsubq\t$32, %rsp\n";
  CHECK(checks(frame + "\tmovl\t%eax, 28(%rsp)\n\tmovaps\t%xmm0, 16(%rsp)\n\tmovq\t40(%rsp), %rdi") == 0);
  CHECK(checks(frame + "\tleaq\t16(%rsp), %rbx\n\tmovl\t%eax, 4(%rbx)") == 0);
  // With an index it may leave the frame; so may a place beyond it, and the return address is nobody's to write.
  CHECK(checks(frame + "\tmovl\t(%rsp,%rax,4), %ecx") == 1);
  CHECK(checks(frame + "\tmovl\t%ecx, 4096(%rsp)") == 1);
  CHECK(checks(frame + "\tmovq\t%rcx, 40(%rsp)") == 1);
  CHECK(checks(frame + "\tmovl\t-8(%rsp), %ecx") == 1);
  // Steps over the guard page, and to a place that is computed.
  CHECK(checks("\tsubq\t$1000000, %rsp") == 1);
  CHECK(checks("\tsubq\t%rax, %rsp") == 1);
  CHECK(checks("\tmovq\t%rcx, %rsp") == 1);
  CHECK(refused("\tmovq\t16(%rdx), %rsp"));
  CHECK(refused("\txchgq\t%rax, %rsp"));
}

TEST_CASE("accesses: the check leaves registers and flags, and counts the stack's shift") {
  const std::string text = annotated("\tmovl\t8(%rsp,%rax,4), %ecx").text;
  CHECK(text.find("\tpushq\t%r11\n\tleaq\t16(%rsp,%rax,4), %r11\n\tpushq\t$4\n\tcall\t__ridge_check_access@PLT\n"
                  "\tleaq\t8(%rsp), %rsp\n\tpopq\t%r11\n\tmovl\t8(%rsp,%rax,4), %ecx\n") != std::string::npos);
}

TEST_CASE("accesses: instructions with memory that no operand shows") {
  CHECK(checks("\trep movsq") == 4);
  CHECK(checks("\trep;stosq %rax, %es:(%rdi)") == 2);
  CHECK(checks("\tmovsl") == 2);
  CHECK(checks("\tcall\t*16(%rax)") == 1);
  CHECK(checks("\tfldt\t(%rdi)\n\tfstpt\t(%rsi)") == 2);
  CHECK(checks("\tstmxcsr\t(%rdi)\n\tmovnti\t%eax, (%rdi)\n\tmovntps\t%xmm0, (%rdi)") == 3);
  CHECK(checks("\tprefetcht0\t(%rdi)\n\tleaq\t(%rdi), %rax\n\tnopw\t0(%rax,%rax)") == 0);
  for (const char* bad : {"\tmaskmovdqu\t%xmm1, %xmm0", "\tvpgatherdd\t%xmm2, (%rdi,%xmm1,4), %xmm0",
                          "\tmovl\t(%eax), %ecx", "\tbtl\t%eax, (%rdi)", "\tfnstenv\t(%rdi)"})
    CHECK(refused(bad));
}
