// The policy for judged sources: each rule with text that breaks it, and plain text that does not.
#include "simt/rewrite/assembly.hpp"
#include "simt/rewrite/policy.hpp"
#include "support/catch.hpp"

using namespace ridge::simt;

namespace {

bool trusted(std::string_view file) { return file.substr(0, 5) == "/usr/"; }
bool source_passes(const std::string& text) { return check_source("# 1 \"a.cu\"\n" + text + "\n", trusted).empty(); }
bool assembly_passes(const std::string& text) { return check_assembly("\t.text\n" + text + "\n", trusted).empty(); }

}  // namespace

TEST_CASE("policy: sources without assembly and telling attributes") {
  for (const char* bad :
       {"asm(\"nop\");", "int x __asm__(\"y\");", "__attribute__((no_sanitize(\"thread\"))) void f();",
        "[[gnu::section(\"x\")]] int a;", "__attribute__((__section__(\".init\"))) int a;",
        "#pragma GCC optimize(\"O3\")", "#pragma clang attribute push(x)",
        "__attribute__((target(\"avx2\"))) void f();", "typedef float W __attribute__((vector_size(32)));",
        "typedef float W [[clang::ext_vector_type(8)]];", "typedef float W __attribute__((__vector_size__(32)));",
        "_ExtInt(256) x;", "unsigned _BitInt(128) x;", "extern \"C\" { static void __tsan_read4(void*) {} }",
        "__attribute__((alias(\"g\"))) void f();"})
    CHECK_FALSE(source_passes(bad));
  for (const char* good :
       {"__attribute__((section(\"ridge_constant\"))) float a[4];", "const char* s = \"asm\";",
        "int target = 1, section = 2;", "#pragma unroll 4", "__attribute__((aligned(16))) float x[4];",
        "int vector_size = 4;", "long double x = 1;", "int a = 1'000; // asm", "auto s = R\"(asm)\";"})
    CHECK(source_passes(std::string(good).substr(0, std::string(good).find("//"))));
  CHECK(check_source("# 1 \"/usr/include/x.h\" 1 3\nasm(\"nop\");\n", trusted).empty());
  // Clang's way to write names outside of ASCII.
  CHECK(file_name_of("/\\303\\234bung 1/a\\\\b.cu") ==
        "/\xc3\x9c"
        "bung 1/a\\b.cu");
  CHECK(check_source("# 1 \"/\\165sr/x.h\" 1 3\nasm(\"nop\");\n", trusted).empty());
  auto found = check_source("# 7 \"a.cu\"\n\nasm(\"nop\");\n", trusted);
  REQUIRE(found.size() == 1);
  CHECK(found[0].line == 8);
}

TEST_CASE("policy: directives that let a file pass for another") {
  for (const char* bad : {"#line 1 \"/usr/x.h\"", "# 1 \"/usr/x.h\" 3", "%: line 4", "#li\\\nne 4", "/**/ # line 3",
                          "#include \"/etc/passwd\"", "#include <../../x>"})
    CHECK_FALSE(check_directives(bad, "a.cu").empty());
  for (const char* good : {"#include <vector>", "#include \"a.hpp\"", "// #line 3", "#pragma once", "int line;"})
    CHECK(check_directives(good, "a.cu").empty());
}

TEST_CASE("policy: assembly that plain C++ does not compile to") {
  for (const char* bad :
       {"\tsyscall", "\tmovl\t%gs:0, %eax", "\twrfsbaseq\t%rdi", "\t.incbin\t\"/etc/shadow\"", "\t.byte\t15",
        "\tnop; syscall", "#APP", "\t.section\t.init,\"ax\",@progbits", "\t.section\tmine,\"awx\",@progbits",
        "\t.type\tf, @gnu_indirect_function", "\t.symver\tf, g@V", "\t.macro\tm", "\t.ascii\t\"open",
        "\tmovl\t%es, %eax", "__tsan_read4:", "\t.set\t__tsan_read4, f", "\trep;movsq (%rsi), %es:(%rdi); syscall"})
    CHECK_FALSE(assembly_passes(bad));
  for (const char* good :
       {"\tmovl\t%esi, %eax", "\tmovq\t%fs:40, %rax", "\tmovl\t%fs:x@tpoff, %eax", "\trep;movsq (%rsi), %es:(%rdi)",
        "\t.section\t.rodata.str1.1,\"aMS\",@progbits,1\n\t.asciz\t\"a;b\"",
        "\t.section\t.text._Zf,\"axG\",@progbits,_Zf,comdat\n\tretq"})
    CHECK(assembly_passes(good));
}

TEST_CASE("static initialisers of a worker are records with a priority") {
  const std::string text = "\t.section\t.init_array.00101,\"aw\",@init_array\n\t.p2align\t3\n\t.quad\tf\n";
  const std::string moved = annotate_assembly(text, {.worker = true}).text;
  CHECK(moved.find("ridge_init") != std::string::npos);
  CHECK(moved.find("\t.quad\t101, f") != std::string::npos);
  CHECK(annotate_assembly(text).text.find("ridge_init") == std::string::npos);
}
