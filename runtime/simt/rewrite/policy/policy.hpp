// Finds what a judged submission may not hold on the emulator: anything with which a kernel could do more than
// instrumented C++ can, or with which code would run outside of kernels and the worker's messages. Two looks at a
// source:
//
//   - check_source reads its preprocessed text, where no macro hides a word any more: asm, attributes and pragmas that
//     choose sections, names, instructions or no instrumentation,
//   - check_assembly reads what the compiler made of it: sections, directives and instructions that it does not write
//     for plain C++.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::simt {

struct Violation {
  std::string file;  // the debug information's name, or the line markers'; empty where there is none
  int line = 0;
  std::string what, advice;
};

// A file of the toolchain or of the course, which may do what a submission may not.
using Trusted = std::function<bool(std::string_view file)>;

// Text of a source before preprocessing: directives that would let it pass for another file.
std::vector<Violation> check_directives(std::string_view text, std::string_view file);
// The expansion of RIDGE_UNCOUNTED (ridge_simt/device.h) in such text: the rewriter writes it at launches.
constexpr std::string_view kUncounted = "__ridge_uncounted";
// A file name of a line marker or a .file directive, which Clang writes with octal escapes outside of ASCII:
// "\303\234bung".
std::string file_name_of(std::string_view quoted);

// Output of the preprocessor (-E) for the rewritten source, which is what will be compiled, with its line markers.
// With -dD it has the macros' definitions as well, and `read` gives the text of a trusted header: none of the
// submission's macros may stand in one.
using ReadFile = std::function<std::string(const std::string& file)>;
std::vector<Violation> check_source(std::string_view preprocessed, const Trusted& trusted, const ReadFile& read = {});
// x86-64 text of GCC and Clang. Whose an instruction is makes no difference: what inline assembly there may be is known
// by its text.
std::vector<Violation> check_assembly(std::string_view text);

// "file:line: error: what\n  advice\n" for each, at most 20.
std::string messages(const std::vector<Violation>& violations);

}  // namespace ridge::simt
