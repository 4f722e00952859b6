// What the compilers of distributions add to assembly is gone before anybody reads it, and only that.
#include "simt/rewrite/assembly/assembly.hpp"
#include "simt/rewrite/assembly/plain_assembly.hpp"
#include "simt/rewrite/policy/policy.hpp"
#include "support/catch.hpp"

using namespace ridge::simt;

namespace {

bool passes(const std::string& text) { return check_assembly(plain_assembly(text)).empty(); }

const std::string kFunction = "\t.text\n\t.type\tf, @function\nf:\n\tmovl\t$1, %eax\n\tret\n\t.size\tf, .-f\n";

}  // namespace

TEST_CASE("notes about the code are removed with what they hold") {
  // GCC at the end of a file, Clang at its beginning, annobin beside a function.
  const std::string gcc =
      "\t.section\t.note.gnu.property,\"a\"\n\t.align 8\n\t.long\t1f - 0f\n0:\n\t.string\t\"GNU\"\n1:\n\t.align 8\n";
  const std::string clang = "\t.section\t\".note.gnu.property\",\"a\",@note\n\t.p2align\t3\n\t.long\t4\n";
  const std::string annobin =
      "\t.pushsection .gnu.build.attributes.text, \"o\", %note, .text\n\t.dc.l 8\n\t.asciz \"GA$3p1\"\n\t.popsection\n";
  CHECK(plain_assembly(kFunction + gcc) == kFunction);
  CHECK(plain_assembly(clang + kFunction) == kFunction);
  CHECK(plain_assembly("\t.text\nf:\n" + annobin + "\tret\n") == "\t.text\nf:\n\tret\n");
  const std::string switches = "\t.section\t.GCC.command.line,\"MS\",@progbits,1\n\t.asciz\t\"-O1\"\n";
  CHECK(plain_assembly(switches + kFunction) == kFunction);
  const std::string stack = "\t.section\t.note.GNU-stack,\"\",@progbits\n";
  CHECK(plain_assembly(kFunction + gcc + stack) == kFunction + stack);
  CHECK(passes(clang + kFunction + gcc + stack));
}

TEST_CASE("sections that come back are those that stay") {
  const std::string note = "\t.section\t.note.x\n\t.long\t1\n";
  CHECK(plain_assembly("\t.text\n" + note + "\t.previous\n\tret\n") == "\t.text\n\tret\n");
  CHECK(plain_assembly("\t.text\n\t.data\n\t.previous\n\tret\n") == "\t.text\n\t.data\n\t.previous\n\tret\n");
  CHECK(plain_assembly("\t.text\n" + note + "\t.data\n\t.previous\n\t.long\t2\n") == "\t.text\n\t.data\n");
  CHECK(plain_assembly("\t.text\n" + note + "\t.pushsection\t.data\n\t.long\t3\n\t.popsection\n\t.long\t2\n") ==
        "\t.text\n\t.pushsection\t.data\n\t.long\t3\n\t.popsection\n");
  CHECK(plain_assembly("\t.pushsection\t.note.y\n\t.popsection\n\t.popsection\n") == "\t.popsection\n");
}

TEST_CASE("marks of branch targets go, and calls through the table are plain calls") {
  CHECK(plain_assembly("f:\n\tendbr64\n\tret\n") == "f:\n\tret\n");
  CHECK(plain_assembly("\tcall\t*__tsan_read4@GOTPCREL(%rip)\n") == "\tcall\t__tsan_read4@PLT\n");
  CHECK(plain_assembly("\tjmpq\t*_Z1gi@GOTPCREL(%rip)           # TAILCALL\n") == "\tjmp\t_Z1gi@PLT\n");
  for (const char* same : {"\tcall\t*8(%rax)\n", "\tcall\t*table@GOTPCREL(%rip,%rax)\n", "\tcall\tf@PLT\n",
                           "\tnotrack jmp\t*%rax\n", "\tmovq\tf@GOTPCREL(%rip), %rax\n", "endbr64:\n"})
    CHECK(plain_assembly(same) == same);
}

// What a submission could gain from a section: code that runs at start, that is data besides, or that our own tables
// and the loader's are read from.
TEST_CASE("all other sections are refused as before") {
  for (const char* name : {".init",          ".fini",
                           ".preinit_array", ".ctors",
                           ".dtors",         ".fini_array",
                           ".interp",        ".dynamic",
                           ".got",           ".got.plt",
                           ".plt",           ".rela.dyn",
                           ".gnu.hash",      ".dynsym",
                           "ridge_blocks",   "ridge_init",
                           "ridge_shared",   "ridge_data",
                           "__libc_atexit",  ".note",
                           ".notes",         ".gnu.linkonce.t.f",
                           ".deplibs"}) {
    INFO(name);
    CHECK_FALSE(passes("\t.section\t" + std::string(name) + ",\"aw\"\n\t.quad\tf\n"));
  }
  CHECK_FALSE(passes("\t.section\t.data.mine,\"awx\",@progbits\n"));
  CHECK_FALSE(passes("\t.section\t.note.GNU-stack,\"x\",@progbits\n"));
  // A section that is removed hides nothing that stays.
  CHECK_FALSE(passes("\t.section\t.note.x,\"ax\"\n\tsyscall\n\t.text\n\tsyscall\n"));
  CHECK(plain_assembly("\t.section\t.note.x,\"awx\"\nridge_entry:\n\tsyscall\n") == "");
}

TEST_CASE("binary data of GCC 15 is data") {
  CHECK(passes("\t.section\t.rodata\nx:\n\t.base64 \"AAAA\"\n"));
  CHECK_FALSE(passes("\t.text\n\t.base64 \"AAAA\"\n"));
}

TEST_CASE("calls of fortified library functions are watched like the plain ones") {
  const std::string text =
      "\t.text\n\t.type\tf, @function\nf:\n\tcall\t__memcpy_chk@PLT\n\tcall\t__printf_chk\n\tret\n\t.size\tf, .-f\n";
  const std::string out = annotate_assembly(text).text;
  CHECK(out.find("call\t__tsan_memcpy@PLT") != std::string::npos);
  CHECK(out.find("call\t__ridge_printf_chk") != std::string::npos);
  CHECK(out.find("__memcpy_chk") == std::string::npos);
}
