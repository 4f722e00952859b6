// The policy for judged sources: each rule with text that breaks it, and plain text that does not.
#include "simt/rewrite/assembly/assembly.hpp"
#include "simt/rewrite/policy/policy.hpp"
#include "support/catch.hpp"

using namespace ridge::simt;

namespace {

bool trusted(std::string_view file) { return file.substr(0, 5) == "/usr/"; }
bool source_passes(const std::string& text) { return check_source("# 1 \"a.cu\"\n" + text + "\n", trusted).empty(); }
bool assembly_passes(const std::string& text) { return check_assembly("\t.text\n" + text + "\n").empty(); }

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

TEST_CASE("policy: a file is what the includes say, not what a line says") {
  const std::string begin = "# 1 \"a.cu\"\nint x;\n";
  const std::string bad = "__attribute__((no_sanitize(\"thread\"))) void f();\n";
  // A line of a raw literal is no marker; nor is one that no #include leads to.
  CHECK_FALSE(check_source(begin + "const char* s = R\"(\n# 1 \"/usr/x.h\" 1 3\n)\";\n" + bad, trusted).empty());
  CHECK_FALSE(check_source(begin + "# 1 \"/usr/x.h\"\n" + bad, trusted).empty());
  CHECK_FALSE(check_source(begin + "# 1 \"own.h\" 1\nint y;\n# 3 \"/usr/x.h\" 2\n" + bad, trusted).empty());
  const std::string header = "# 1 \"/usr/x.h\" 1 3\n__attribute__((no_sanitize(\"thread\"))) void f();\n";
  CHECK(check_source(begin + header + "# 3 \"a.cu\" 2\nint y;\n", trusted).empty());
  // The rewriter names its copies of the course's headers.
  CHECK(check_source(begin + "# 1 \"/tmp/1.gpt.cuh\" 1\n# 1 \"/usr/nn/gpt.cuh\"\n" + bad + "# 3 \"a.cu\" 2\n", trusted)
            .empty());
}

TEST_CASE("policy: brackets of attributes are tokens") {
  for (const char* bad : {"[ [gnu::section(\"x\")] ] int a;", "[\n[gnu::section(\"x\")]\n] int a;",
                          "<:<: gnu::section(\"x\") :>:> int a;", "int FOOR = 1; [[gnu::target(\"avx\")]] void f();"})
    CHECK_FALSE(source_passes(bad));
  for (const char* good :
       {"int a = b[c[section]];", "auto s = u8R\"x([[gnu::section()x\";", "int i = v[w[0]], section = 1;"})
    CHECK(source_passes(good));
}

TEST_CASE("policy: a submission's macros stay out of headers that are not its own") {
  auto passes = [](const std::string& defined, const std::string& header) {
    return check_source("# 1 \"a.cu\"\nint x;\n" + defined + "\n# 1 \"/usr/x.h\" 1 3\nint y;\n# 4 \"a.cu\" 2\nint z;\n",
                        trusted, [&](const std::string&) { return header; })
        .empty();
  };
  CHECK_FALSE(passes("#define __THROW ; void evil(); void f()", "void g() __THROW;"));
  CHECK_FALSE(passes("#define inline", "#define RIDGE inline\n"));
  CHECK_FALSE(passes("#define RIDGE_DEVICE", "int y;"));
  CHECK_FALSE(passes("#pragma push_macro(\"x\")", "int y;"));
  // By way of a macro of another header.
  CHECK_FALSE(passes("# 1 \"/usr/w.h\" 1 3\n#define WORD foo\n# 2 \"a.cu\" 2\n#define foo bar", "int WORD;"));
  CHECK(passes("#define NDEBUG 1", "#ifdef NDEBUG\n#endif\nint y;"));
  CHECK(passes("#define TILE 32", "int tile; // TILE"));
  CHECK(passes("#define CHECK(x) x", ""));
}

TEST_CASE("policy: directives that let a file pass for another") {
  for (const char* bad :
       {"#line 1 \"/usr/x.h\"", "# 1 \"/usr/x.h\" 3", "%: line 4", "#li\\\nne 4", "/**/ # line 3",
        "#include \"/etc/passwd\"", "#include <../../x>", "int x;\r#line 1 \"/usr/x.h\"", "int x;\v",
        "#import \"/etc/passwd\"", "#include_next <x>", "#ident \"x\"",
        "auto s = R\"x( )\\\nx\" R\"y( )x\";\n#line 1 \"/usr/x.h\"\n// )y\"", "auto s = R\"(\\)\";\n#line 3"})
    CHECK_FALSE(check_directives(bad, "a.cu").empty());
  for (const char* good : {"#include <vector>", "#include \"a.hpp\"", "// #line 3", "#pragma once", "int line;",
                           "int x;\r\n", "#define A(x) \\\n  #x\n", "auto s = R\"(\n#line 3\n)\";",
                           "int n = 1'000;\n# \n", "/*\n#line 3\n*/", "char c = '\"'; // \"\n#if 1\n#elif 2\n#endif"})
    CHECK(check_directives(good, "a.cu").empty());
}

TEST_CASE("policy: assembly that plain C++ does not compile to") {
  for (const char* bad : {"\t.loc\t1 2\n#APP\n\tmovl\t(%rax), %ecx\n#NO_APP",
                          "#APP\n#NO_APP\n#NO_APP",
                          "#APP\n\tleaq\t0(%rip), %rax\n\tleaq\t0(%rip), %rax\n#NO_APP",
                          "#APP\n\tleaq\t0(%rip), %rsp\n#NO_APP",
                          "\tsyscall",
                          "\tmovl\t%gs:0, %eax",
                          "\twrfsbaseq\t%rdi",
                          "\t.incbin\t\"/etc/shadow\"",
                          "\t.byte\t15",
                          "\tnop; syscall",
                          "#APP",
                          "\t.section\t.init,\"ax\",@progbits",
                          "\t.section\tmine,\"awx\",@progbits",
                          "\t.type\tf, @gnu_indirect_function",
                          "\t.symver\tf, g@V",
                          "\t.macro\tm",
                          "\t.ascii\t\"open",
                          "\tmovl\t%es, %eax",
                          "\tvaddps\t(%rsi), %zmm0, %zmm1 {%k1} {z}",
                          "__tsan_read4:",
                          "\t.set\t__tsan_read4, f",
                          "\trep;movsq (%rsi), %es:(%rdi); syscall"})
    CHECK_FALSE(assembly_passes(bad));
  for (const char* good : {"\t#APP\n\t#NO_APP", "#APP\n# 9 \"here.h\" 1\n\tleaq 0(%rip), %r12\n# 0 \"\" 2\n#NO_APP",
                           "\t.section\t.rodata\n\t.asciz\t\"#APP\"\n\t.text", "\tmovl\t%esi, %eax",
                           "\tmovq\t%fs:40, %rax", "\tmovl\t%fs:x@tpoff, %eax", "\trep;movsq (%rsi), %es:(%rdi)",
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
