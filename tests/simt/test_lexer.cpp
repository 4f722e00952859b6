// What is code, comment or literal in C++, and that all that reads it here agrees.
#include <string>

#include "simt/rewrite/policy/policy.hpp"
#include "simt/rewrite/source/late_ptx.hpp"
#include "simt/rewrite/source/rewrite.hpp"
#include "simt/rewrite/text/lexer.hpp"
#include "support/catch.hpp"

using namespace ridge::simt;

namespace {

// The source with "-" for each byte of a comment and "'" for each of a literal.
std::string marked(const std::string& source) {
  std::string text = source;
  const std::vector<Kind> kinds = classify(source);
  for (std::size_t i = 0; i < text.size(); ++i)
    if (kinds[i] != Kind::code) text[i] = kinds[i] == Kind::comment ? '-' : '\'';
  return text;
}

}  // namespace

TEST_CASE("literals and comments end where a compiler ends them") {
  for (const auto& [source, expected] : std::initializer_list<std::pair<std::string, std::string>>{
           {R"(f("a\"b", 'c', '\'', '"', "\\") + 1;)", R"(f('''''', ''', '''', ''', '''') + 1;)"},
           {R"(return'"'; case'a': f(u8'"', L'"', U'\'');)", R"(return'''; case''': f(''''', '''', ''''');)"},
           {"x = u8R\"x( )\" \" )x\" + R\"()\" + LR\"-( ' )-\";", "x = ''''''''''''''' + ''''' + ''''''''''';"},
           {"myR\"(\" + 1; abcu8\"x\";", "myR''' + 1; abcu8''';"},
           {"R\"abcdefghijklmnopq(\" + 1", "''''''''''''''''''''' + 1"},  // too long a delimiter: no raw literal
           {"a // b \\\nc \\ \nd\ne /* \" */ '/'", "a -------------\ne ------- '''"},
           {"/\\\n/ a\nb /\\\n* c *\\\n/ d", "------\nb ----------- d"},
           {"\"a\\\nb\"c", "''''''c"},
           {"\"a\\\\\n\"b\" c", "'''''''' c"},  // behind the splice the first backslash is the second quote's
           {"don't\nx = 1;", "don''\nx = 1;"},
           {"R\"(\\\n\")\" a", "'''''''' a"}})
    CHECK(marked(source) == expected);
  // Digit separators are a number's.
  for (const char* source : {"1'000'000;", "0x1.a'bp+1;", "0xFFu + 0b1'0;", ".5'0;"}) CHECK(marked(source) == source);
  CHECK(marked("1'000'\"'") == "1'000'''");
}

TEST_CASE("a literal's contents are those between its quotes") {
  const auto contents = [](const std::string& s) { return contents_of(s, piece_at(s, 0)); };
  CHECK(contents("\"a\\\nb\\n\"c") == "ab\\n");
  CHECK(contents("u8R\"x(a\\\n)\")x\"c") == "a\\\n)\"");
  CHECK(contents("R\"()\"") == "");
  CHECK(contents("\"open") == "open");
  CHECK(contents("R\"y(open)\"") == "open)\"");
}

TEST_CASE("a line of a directive ends behind its raw literals, comments and splices") {
  for (const char* line : {"#define A R\"(\n#if 0\n)\"", "#define A /*\n*/ 1", "#define A \\ \n 1", "# // a \\\n b"}) {
    const std::string s = std::string(line) + "\nrest";
    CHECK(line_end(s, 0) == s.size() - 5);
  }
}

TEST_CASE("the rewriter's readers take literals for what they are") {
  const auto has = [](const std::string& source, const std::string& part) {
    INFO(rewrite_cuda(source, "a.cu"));
    return rewrite_cuda(source, "a.cu").find(part) != std::string::npos;
  };
  CHECK(has("char f() { return'\"'; } void g() { k<<<1, 2>>>(\"\"); }", "Launch(\"k\", 1, 2)"));
  CHECK(has("#define TEXT R\"(\n#if 0\n)\"\nvoid g() { k<<<1, 2>>>(); }", "Launch(\"k\", 1, 2)"));
  // Operands, and a template in a raw literal.
  CHECK(has("asm(\"ex2.approx.f32 %0, %1;\" : \"=f\"(y[c == '(']) : \"f\"(x));", "ptx_ex2((y[c == '(']), (x))"));
  CHECK(has("asm(\"ex2.approx.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x[c == '\"']));", "ptx_ex2((y), (x[c == '\"']))"));
  CHECK(has("asm(R\"(\n  ex2.approx.f32 %0, %1;  )\" : \"=f\"(y) : \"f\"(x));", "ptx_ex2((y), (x))"));
  std::vector<LatePtxError> errors;
  CHECK(translate_late_ptx("__ridge_asm__(\"ex2.approx.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x[c == L')'])); g(1);",
                           errors) == "::ridge_simt::ptx_ex2((y), (x[c == L')'])); g(1);");
}

TEST_CASE("the policy's readers take literals for what they are") {
  const auto trusted = [](std::string_view file) { return file.starts_with("/usr/"); };
  // Lines of a raw literal in a macro's text, as clang -dD lists them, are no markers.
  const auto found =
      check_source("# 1 \"a.cu\"\n#define X R\"(\n# 1 \"/usr/include/x.h\" 1\n)\"\nint a;\nasm(\"nop\");\n", trusted);
  REQUIRE(found.size() == 1);
  CHECK(found[0].file == "a.cu");
  CHECK(found[0].line == 5);
  CHECK(check_source("# 1 \"a.cu\"\nchar a = u8'\"', b = L'\"'; asm(\"nop\");\n", trusted).size() == 1);
  CHECK(check_source("# 1 \"a.cu\"\nconst char* s = u8R\"x(\" )\" asm )x\"; int n = 1'000; char c = '\"'; /* asm */\n",
                     trusted)
            .empty());
  CHECK_FALSE(check_source("# 1 \"a.cu\"\nas\\\nm(\"nop\");\n", trusted).empty());
  // Compilers end these otherwise than a reader that does not know what stands before them.
  for (const char* bad : {"#if __has_include(<x/*y>)\n#endif\n#line 3 \"/usr/x.h\"\n/* */", "auto s = \xc3\xa9R\"(\";",
                          "int n = \xc3\xa9"
                          "1'a /*';\n#line 3\n// */",
                          "#if __has_include(<x//y>)\n#endif"})
    CHECK_FALSE(check_directives(bad, "a.cu").empty());
  for (const char* good : {"#include <vector> /* a */", "#if A < B  // c\n#endif",
                           "float \xcf\x83"
                           "2 = 1'000;",
                           "auto s = \"\xc3\xa9\" R\"(x)\";", "/* include <a */ int x; /* b */"})
    CHECK(check_directives(good, "a.cu").empty());
}
