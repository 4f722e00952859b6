// The program's `extern __shared__` arrays, whose names all stand for one array: ridge_dynamic. Where `ridge cc`
// links, it makes them aliases. An object that a C++ compiler may link names the array itself, which the toolkit's
// libcudart has.
#pragma once
#include <set>
#include <string>

#include "grader/compile/symbol_tables.hpp"

namespace ridge {

// Names of thread-local symbols that no object defines: the program's dynamic arrays.
std::set<std::string> undefined_tls(const SymbolTables& symbols);

// The names of dynamic arrays as a rewritten source declares them: "extern __thread T name[]".
std::set<std::string> dynamic_arrays(const std::string& rewritten);

// Assembly that makes those of the object's undefined symbols which are dynamic arrays the one array.
std::string aliases_of_dynamic(const SymbolTables& object, const std::set<std::string>& arrays);

// C++ that defines the array, and the names of `undefined` as its aliases. With `modules` it is for a program that
// loads modules: their __shared__ arrays lie behind the array, at the end of the segment
// (runtime/simt/driver/module_tail.hpp), and nvrtc finds the program that compiles.
std::string dynamic_shared_source(std::set<std::string> undefined, bool modules = false);

}  // namespace ridge
