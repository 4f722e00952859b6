#include "grader/compile/compile.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <random>
#include <set>
#include <sstream>

#include "grader/base/defence.hpp"
#include "grader/base/error.hpp"
#include "grader/compile/diagnostics.hpp"
#include "grader/compile/dynamic_shared.hpp"
#include "grader/compile/module.hpp"
#include "grader/compile/precompiled.hpp"
#include "grader/compile/symbol_tables.hpp"
#include "grader/machine/cuda_includes.hpp"
#include "grader/machine/toolkit.hpp"
#include "grader/sandbox/process.hpp"
#include "grader/sandbox/sandbox.hpp"
#include "simt/rewrite/assembly/assembly.hpp"
#include "simt/rewrite/assembly/plain_assembly.hpp"
#include "simt/rewrite/assembly/vector_members.hpp"
#include "simt/rewrite/policy/policy.hpp"
#include "simt/rewrite/source/late_ptx.hpp"
#include "simt/rewrite/source/rewrite.hpp"
#include "simt/rewrite/source/unsupported.hpp"

namespace ridge {

namespace {

// Of somebody else's sources; who compiles their own may have the patience that large libraries of templates take.
constexpr double kCompileSeconds = 120, kOwnCompileSeconds = 1800;

void write_file(const fs::path& p, const std::string& text) {
  std::ofstream out(p, std::ios::binary);
  out << text;
  out.close();
  if (!out)
    throw Error(Exit::environment, "cannot write " + p.string() + " (no space left?)",
                "free some space there, or set TMPDIR to a folder with space");
}

CompileFailure run_tool(const std::vector<std::string>& argv, const fs::path& dir, bool sandboxed,
                        const std::vector<fs::path>& show = {}) {
  ProcessLimits limits;
  limits.seconds = sandboxed ? kCompileSeconds : kOwnCompileSeconds;
  Sandbox sandbox = builder_sandbox(dir, show);
  ProcessResult r = run_process(argv, dir, limits, sandboxed ? &sandbox : nullptr);
  if (r.exit_code == 0 && !r.timed_out) return {};
  CompileFailure f;
  f.output = r.output;
  f.environment = disk_full(dir) || r.exit_code == 127;
  if (r.timed_out)
    f.output += fmt::format(
        "\nridge: the compiler was stopped after {:.0f} s: the code gives it endless work (templates or constexpr "
        "functions that call themselves), or this machine is busy: then try again",
        limits.seconds);
  if (r.flooded) f.output += "\nridge: the compiler printed too much and was stopped";
  if (r.signal != 0 && !r.timed_out && !r.flooded)
    f.output += fmt::format("\nridge: the compiler died of signal {}", r.signal);
  if (f.output.empty()) f.output = fmt::format("{} ended with exit code {}", argv[0], r.exit_code);
  return f;
}

std::string demangled(const std::string& name) {
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : name;
}

// As ptxas refuses such a kernel, but at its line.
std::string describe(const simt::SharedExcess& excess, const std::string& shown_name) {
  return fmt::format(
      "{}:{}error: {} uses too much shared data (0x{:x} bytes, 0x{:x} max)\n"
      "  {} bytes of static __shared__ arrays; a block has {}. More needs dynamic shared memory: extern "
      "__shared__, and cudaFuncSetAttribute.\n",
      excess.file.empty() ? shown_name : excess.file, excess.line > 0 ? fmt::format("{}: ", excess.line) : " ",
      demangled(excess.function), excess.bytes, simt::kStaticSharedMax, excess.bytes, simt::kStaticSharedMax);
}

// The toolchain's headers and Ridge's. A submission cannot call its own files so: the policy follows the #includes.
bool trusted_file(std::string_view file) {
  const std::string name = fs::path(file).lexically_normal().string();
  return name.rfind("/usr/", 0) == 0 || name.rfind((root_dir() / "runtime").lexically_normal().string() + "/", 0) == 0;
}

struct SourceFindings {
  bool read = false;  // else `text` is what the preprocessor says
  std::string text;
};

// The source after preprocessing, read against the policy.
SourceFindings source_policy(const fs::path& source, std::vector<std::string> argv, const fs::path& dir,
                             const std::vector<fs::path>& show) {
  argv.insert(argv.end(), {source.string(), "-DRIDGE_UNCOUNTED=" + std::string(simt::kUncounted)});
  // A name that the source cannot ask for (__has_include): both readings of it are to find the same files.
  const fs::path text = dir / fmt::format("{}.{:08x}.ii", source.filename().string(), std::random_device()());
  argv.insert(argv.end(), {"-E", "-dD", "-o", text.string()});
  if (CompileFailure f = run_tool(argv, dir, true, show); !f.output.empty()) return {false, f.output};
  const std::string read = file_text(text);
  std::error_code ec;
  fs::remove(text, ec);
  return {true, simt::messages(
                    simt::check_source(read, trusted_file, [](const std::string& file) { return file_text(file); }))};
}

fs::path emulators_headers() { return root_dir() / "runtime/simt/include"; }

// The flags of a compilation, without the file, the headers included before it, and the output.
std::vector<std::string> flags_of(const Compiler& compiler, const CompileOptions& options) {
  std::vector<std::string> flags = {
      "-std=c++20", "-ftls-model=local-exec", "-fno-strict-aliasing", "-fdiagnostics-color=never",
      "-Wall",      "-Wno-unknown-pragmas",   "-Wno-register"};
  for (const auto& dir : options.include_dirs) flags.insert(flags.end(), {"-I", dir});
  flags.insert(flags.end(), {"-isystem", emulators_headers().string()});
  if (const fs::path cccl = options.worker ? fs::path() : cccl_headers(); !cccl.empty())
    flags.insert(flags.end(), {"-isystem", cccl.string()});
  if (!compiler.clang) flags.push_back("-Wno-deprecated");  // the rewritten launch captures `this`
  // In kernels nvcc warns of {0.0} for an int, no more: the C++ compiler behind it never sees their bodies.
  flags.push_back(compiler.clang ? "-Wno-error=c++11-narrowing" : "-Wno-narrowing");
  if (options.instrumented) {
    auto counting = counting_flags(compiler);
    flags.insert(flags.end(), counting.begin(), counting.end());
  } else {
    flags.insert(flags.end(), {"-O2", "-DRIDGE_PLAIN", "-gdwarf-4", compiler.clang ? "-gline-tables-only" : "-g1"});
    const std::vector<std::string> unset = unset_argument_flags(compiler);
    flags.insert(flags.end(), unset.begin(), unset.end());
  }
  if (options.worker) flags.push_back("-DRIDGE_JUDGED");
  if (options.worker) flags.push_back(compiler.clang ? "-ferror-limit=20" : "-fmax-errors=20");
  flags.insert(flags.end(), options.extra.begin(), options.extra.end());
  return flags;
}

bool is_c(const fs::path& source, const CompileOptions& options) {
  return options.language == Language::c || (options.language == Language::by_name && source.extension() == ".c");
}

void add_dependencies(const Dependencies& d, std::vector<std::string>& argv) {
  if (!d.wanted) return;
  argv.insert(argv.end(), {d.system ? "-MD" : "-MMD", "-MF", d.file, "-MT", d.target});
  if (d.phony) argv.push_back("-MP");
}

// C, which nvcc leaves to the C compiler: no kernels, and names as C has them.
CompileFailure compile_c(const fs::path& source, const fs::path& object, const CompileOptions& options) {
  std::vector<std::string> argv = {host_compiler().program.string(), "-x", "c", "-O2", "-g1"};
  for (const auto& dir : options.include_dirs) argv.insert(argv.end(), {"-I", dir});
  argv.insert(argv.end(), {"-isystem", emulators_headers().string()});
  std::copy_if(options.extra.begin(), options.extra.end(), std::back_inserter(argv),
               [](const std::string& o) { return !o.starts_with("-std=c++") && !o.starts_with("-std=gnu++"); });
  add_dependencies(options.dependencies, argv);
  argv.insert(argv.end(), {options.preprocess ? "-E" : "-c", source.string(), "-o", object.string()});
  return run_tool(argv, object.parent_path(), options.sandboxed);
}

// The compiler read copies, and a header that was compiled before: make is to know what the user wrote.
void name_own_files(const std::string& list, const std::vector<CudaIncludes::Copy>& copies) {
  std::string text = file_text(list);
  for (const CudaIncludes::Copy& c : copies)
    for (std::size_t at = 0; (at = text.find(c.copy.string(), at)) != std::string::npos;
         at += c.written.string().size())
      text.replace(at, c.copy.string().size(), c.written.string());
  std::string kept;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", from), text.size() - 1);
    const std::string word = text.substr(from, end + 1 - from);
    if (word.find(".gch") == std::string::npos && word.find(".pch") == std::string::npos) kept += word;
    from = end + 1;
  }
  write_file(list, kept);
}

// Thrust's headers need others before them, whichever comes first.
bool uses_thrust(const fs::path& input, const std::vector<CudaIncludes::Copy>& copies) {
  // CUB's headers bring Thrust's iterators with them, so that a program may name those without including Thrust.
  const auto names = [](const fs::path& file) {
    const std::string text = file_text(file);
    return text.find("<thrust/") != std::string::npos || text.find("thrust::") != std::string::npos;
  };
  return names(input) || std::any_of(copies.begin(), copies.end(), [&](const auto& c) { return names(c.copy); });
}

// With -flto the output is not assembly but GCC's own code in sections, or LLVM's as text.
bool for_link_time(const std::string& text) {
  return text.find("\t.comm\t__gnu_lto_slim") != std::string::npos || text.starts_with("; ModuleID");
}

bool has_late_ptx(const fs::path& input, const std::vector<CudaIncludes::Copy>& copies) {
  const auto has = [](const fs::path& file) { return file_text(file).find(simt::kLatePtx) != std::string::npos; };
  return has(input) || std::any_of(copies.begin(), copies.end(), [&](const auto& c) { return has(c.copy); });
}

// Inline PTX that is made of macros, in the preprocessor's output: translated in place, or refused at its lines.
std::string translate_late_ptx(const fs::path& preprocessed) {
  std::vector<simt::LatePtxError> errors;
  write_file(preprocessed, simt::translate_late_ptx(file_text(preprocessed), errors));
  std::string messages;
  for (const simt::LatePtxError& e : errors)
    messages += fmt::format("{}:{}: error: {}\n", e.file, e.line, simt::unsupported_word("asm"));
  return messages;
}

CompileFailure with_warnings(CompileFailure f, std::string warnings) {
  f.warnings = std::move(warnings);
  return f;
}

fs::path library(const char* name) { return build_dir() / "lib" / name; }

// CUDA's libraries that are a library of the host's here. Without a package: where the archive is missing, so is only a
// part of cuBLAS.
struct HostLibrary {
  const char *option, *archive, *name, *package;
  std::array<const char*, 2> needed;
};
constexpr HostLibrary kHostLibraries[] = {
    {"-lcufft", "libridge_fft.a", "FFTW", "libfftw3-dev", {"-lfftw3", "-lfftw3f"}},
    {"-lcusolver", "libridge_solver.a", "LAPACK", "liblapack-dev", {"-llapack", nullptr}},
    {"-lcublas",
     "libridge_blas.a",
     "BLAS",
     nullptr,
     {"-Wl,--push-state,--as-needed,-llapack,-lblas,--pop-state", nullptr}},
};

}  // namespace

fs::path cublas_kernels() { return root_dir() / "runtime/simt/cublas/cublas_gemm.cu"; }

std::string forbidden_header(const fs::path& list, const std::string& shown_name,
                             const std::vector<std::string>& forbidden) {
  if (forbidden.empty()) return {};
  constexpr std::string_view kInclude = "/include/";
  std::istringstream words(file_text(list));
  for (std::string path; words >> path;) {
    const std::size_t at = path.rfind(kInclude);
    if (at == std::string::npos) continue;
    const std::string name = path.substr(at + kInclude.size());
    for (const std::string& head : forbidden)
      if (name.rfind(head, 0) == 0 || name.find("/" + head) != std::string::npos)
        return fmt::format("{}: error: <{}> is not for this lab\n  the task is to write this yourself, as a kernel\n",
                           shown_name, name);
  }
  return {};
}

CompileFailure compile_file(const fs::path& source, const std::string& shown_name, const fs::path& object,
                            const CompileOptions& options) {
  const Compiler& compiler = host_compiler();
  fs::path input = source;
  std::vector<CudaIncludes::Copy> copies;
  std::string notes;
  if (is_c(source, options)) return compile_c(source, object, options);
  const std::string kind = source.extension().string();
  const bool named_cpp = kind == ".cpp" || kind == ".cc" || kind == ".cxx";
  if (options.language == Language::by_name ? !named_cpp : options.language == Language::cuda) {
    // Under its own name, which is what debug information falls back to.
    const fs::path folder = object.string() + ".d";
    fs::create_directories(folder / "headers");
    std::vector<fs::path> dirs(options.include_dirs.begin(), options.include_dirs.end());
    input = folder / source.filename();
    std::vector<fs::path> only;
    if (options.sandboxed && on(Defence::build_sandbox)) {
      only = dirs;
      only.push_back(source.parent_path());
    }
    std::vector<fs::path> libraries;
    if (!options.worker) libraries = {cccl_headers(), "/usr/include"};
    CudaIncludes includes(folder / "headers", std::move(dirs), std::move(only), std::move(libraries));
    write_file(input, includes.rewrite(source, shown_name, {options.child_launches, options.device_by_default}));
    copies = includes.copies();
    copies.push_back({shown_name, source, input});
    notes = includes.notes();
  }
  std::set<std::string> arrays;
  if (options.linked_by_others && !copies.empty()) {
    arrays = dynamic_arrays(file_text(input));
    for (const CudaIncludes::Copy& c : copies) arrays.merge(dynamic_arrays(file_text(c.copy)));
  }
  const bool assembles = options.instrumented || !arrays.empty();
  const fs::path compiled = assembles && !options.preprocess ? fs::path(object.string() + ".s") : object;
  const bool judged = options.worker && on(Defence::assembly_policy);
  // Before all others; what library_checks.h undoes may come from behind our own options.
  // Whole paths: the compiler looks for others beside the source first, where the submission's own headers are.
  const fs::path ours = emulators_headers();
  std::vector<fs::path> headers;
  if (options.worker) headers.push_back(ours / "ridge_simt/library_checks.h");
  // nvcc leaves C++ sources as they are: they may declare a float4 of their own.
  if (options.worker || !copies.empty())
    headers.push_back(on(Defence::source_files) ? ours / "cuda_runtime.h" : fs::path("cuda_runtime.h"));
  const std::vector<std::string> flags = flags_of(compiler, options);
  const bool thrust = !options.worker && !cccl_headers().empty() && uses_thrust(input, copies);
  auto command = [&](const std::vector<fs::path>& included) {
    std::vector<std::string> argv = {compiler.program.string(), "-x", "c++"};
    for (const fs::path& header : included) argv.insert(argv.end(), {"-include", header.string()});
    if (thrust) argv.insert(argv.end(), {"-include", (ours / "ridge_simt/thrust_first.h").string()});
    // The source is a copy in another folder. Only includes through a macro are looked for by these flags: in the
    // judge before the emulator's own headers, elsewhere last, as an installed library's must not find the user's.
    argv.insert(argv.end(), {options.worker ? "-iquote" : "-idirafter", source.parent_path().string()});
    argv.insert(argv.end(), flags.begin(), flags.end());
    return argv;
  };
  // Made before anybody reads the source: both find the same files.
  fs::path parsed;
  if (on(Defence::source_files) && !headers.empty())
    parsed = precompiled(compiler, {headers, flags, !options.extra.empty(), options.reuse});
  const std::vector<fs::path> show = files_of_precompiled(parsed);
  std::future<SourceFindings> policy;
  if (judged)
    policy = std::async(std::launch::async, source_policy, input, command(headers), object.parent_path(), show);
  const fs::path headers_read = object.string() + ".headers";
  // Preprocessed, translated, and then compiled without headers.
  const bool late = !options.preprocess && has_late_ptx(input, copies);
  const fs::path preprocessed = object.string() + ".ii";
  auto compile = [&](const std::vector<fs::path>& included) {
    std::vector<std::string> argv = command(included);
    if (!options.forbidden_headers.empty()) argv.insert(argv.end(), {"-MD", "-MF", headers_read.string()});
    add_dependencies(options.dependencies, argv);
    const char* step = assembles ? "-S" : "-c";
    if (!late) {
      argv.insert(argv.end(), {options.preprocess ? "-E" : step, input.string(), "-o", compiled.string()});
      return run_tool(argv, object.parent_path(), options.sandboxed, show);
    }
    argv.insert(argv.end(), {"-E", input.string(), "-o", preprocessed.string()});
    if (CompileFailure f = run_tool(argv, object.parent_path(), options.sandboxed, show); !f.output.empty()) return f;
    if (std::string messages = translate_late_ptx(preprocessed); !messages.empty())
      return CompileFailure{false, std::move(messages)};
    argv = {compiler.program.string(), "-x", "c++-cpp-output"};
    argv.insert(argv.end(), flags.begin(), flags.end());
    argv.insert(argv.end(), {step, preprocessed.string(), "-o", compiled.string()});
    return run_tool(argv, object.parent_path(), options.sandboxed, show);
  };
  CompileFailure failure = compile(parsed.empty() || late ? headers : std::vector<fs::path>{parsed});
  if (!parsed.empty() && refuses_precompiled(failure.output, parsed)) failure = compile(headers);
  const SourceFindings told = judged ? policy.get() : SourceFindings{true, ""};
  if (told.read && !told.text.empty()) return {false, told.text};
  if (!failure.output.empty()) {
    for (const CudaIncludes::Copy& c : copies)
      failure.output = in_own_columns(failure.output, c.shown_name, file_text(c.copy), file_text(c.written));
    failure.output = own_messages(failure.output);
    return failure;
  }
  if (const std::string why = forbidden_header(headers_read, shown_name, options.forbidden_headers); !why.empty())
    return {false, why};
  if (options.dependencies.wanted) name_own_files(options.dependencies.file, copies);
  if (options.preprocess) return {};
  // Compiled, and yet unreadable: nothing goes past the reader.
  if (!told.read) return {false, own_messages(told.text)};
  auto assemble = [&](std::string text) {
    const std::vector<std::string> argv = {compiler.program.string(), "-c", compiled.string(), "-o", object.string()};
    write_file(compiled, text);
    CompileFailure f = run_tool(argv, object.parent_path(), options.sandboxed);
    if (arrays.empty() || !f.output.empty()) return f;
    write_file(compiled, text += aliases_of_dynamic(symbol_tables({object}), arrays));
    return run_tool(argv, object.parent_path(), options.sandboxed);
  };
  if (!options.instrumented)
    return with_warnings(assembles ? assemble(file_text(compiled)) : CompileFailure{}, std::move(notes));
  const std::string text = simt::plain_assembly(file_text(compiled));
  if (for_link_time(text))
    return {true, compiler.program.string() +
                      " optimises when it links (-flto), whatever it is told: the emulator needs its machine code"};
  if (judged)
    if (auto found = simt::check_assembly(text); !found.empty()) return {false, simt::messages(found)};
  const std::string compiled_from = file_text(input), name = input.filename().string();
  const simt::VectorMembers members = simt::vector_members(compiled_from);
  const simt::AlignedLines aligned = simt::aligned_lines(compiled_from);
  simt::AnnotatedAssembly assembly =
      simt::annotate_assembly(text, {options.worker, judged, !options.worker || judged, &members, &aligned, name});
  if (!assembly.unchecked.empty()) return {false, simt::messages(assembly.unchecked)};
  if (!assembly.excesses.empty()) {
    CompileFailure f;
    for (const auto& excess : assembly.excesses) f.output += describe(excess, shown_name);
    return f;
  }
  if (assembly.constant_bytes > simt::kConstantMax && on(Defence::constant_limit))
    return {false,
            fmt::format("{}: error: too much constant data (0x{:x} bytes, 0x{:x} max)\n"
                        "  {} bytes of __constant__ variables; a GPU has {} for a source file. Larger tables go to "
                        "device memory.\n",
                        shown_name, assembly.constant_bytes, simt::kConstantMax, assembly.constant_bytes,
                        simt::kConstantMax)};
  return with_warnings(assemble(std::move(assembly.text)), std::move(notes));
}

CompileFailure link_program(const std::vector<fs::path>& objects, const fs::path& program, bool worker,
                            const std::vector<std::string>& extra, const SymbolTables* known) {
  const Compiler& compiler = host_compiler();
  std::vector<std::string> argv = {compiler.program.string(), "-o", program.string(), "-fdiagnostics-color=never"};
  if (worker) argv.insert(argv.end(), {"-pie", "-fno-lto"});  // as its objects are, whatever the default
  for (const auto& o : objects) argv.push_back(o.string());
  const SymbolTables symbols = known != nullptr ? *known : symbol_tables(objects);
  auto names = undefined_tls(symbols);
  const auto asks_for = [&](const char* library) {
    return std::find(extra.begin(), extra.end(), library) != extra.end();
  };
  const bool gives = !worker && gives_code(symbols);
  const bool modules = gives || (!worker && (asks_for("-lcuda") || asks_for("-lnvrtc")) && uses_modules(symbols));
  // std::call_once and futures have thread-local variables in the C++ library: local-exec code reaches those of its own
  // program only.
  if (std::erase_if(names, [](const std::string& n) { return n.rfind("_ZSt", 0) == 0; }) != 0)
    argv.push_back("-static-libstdc++");
  std::string segment_end;  // what must come last
  if (!names.empty() || modules) {
    fs::path stub = program.string() + ".shared.cpp";
    write_file(stub, dynamic_shared_source(names, modules));
    fs::path object = stub.string() + ".o";
    std::vector<std::string> compile = {compiler.program.string(), "-O1", "-ftls-model=local-exec"};
    compile.insert(compile.end(), compiler.neutral.begin(), compiler.neutral.end());
    compile.insert(compile.end(), {"-c", stub.string(), "-o", object.string()});
    if (CompileFailure f = run_tool(compile, program.parent_path(), worker); !f.output.empty()) return f;
    (modules ? segment_end : argv.emplace_back()) = object.string();
  }
  std::vector<std::string> behind;
  // All of its interface, as of a shared library: a weak reference would not draw a member of an archive.
  if (std::find(extra.begin(), extra.end(), "-lnccl") != extra.end())
    argv.insert(argv.end(), {"-Wl,-u,ncclAllReduce,-u,ncclCommDestroy", library("libridge_collectives.a").string()});
  for (const HostLibrary& l : kHostLibraries) {
    if (std::find(extra.begin(), extra.end(), l.option) == extra.end()) continue;
    if (!fs::exists(library(l.archive)) && l.package == nullptr) continue;
    if (!fs::exists(library(l.archive)))
      return {true, fmt::format("ridge cc: {} needs {}, which was not there when Ridge was built\n"
                                "  install {}, and build Ridge again",
                                l.option, l.name, l.package)};
    argv.push_back(library(l.archive).string());
    for (const char* needed : l.needed)
      if (needed != nullptr) behind.push_back(needed);
  }
  if (gives) argv.push_back("-Wl,-u,ridge_find_functions");
  // Modules may call anything of the emulator.
  if (modules) argv.insert(argv.end(), {library("libridge_driver.a").string(), "-Wl,--whole-archive"});
  argv.push_back(library(!worker ? "libridge_simt.a" : "ridge_worker_sealed.o").string());
  if (modules) argv.push_back("-Wl,--no-whole-archive");
  // Without the policy a submission's functions take the place of the judge's, as they would in an archive.
  if (worker && !on(Defence::symbol_policy)) argv.push_back("-Wl,--allow-multiple-definition");
  argv.insert(argv.end(), behind.begin(), behind.end());
  argv.insert(argv.end(), {"-lpthread", "-lm"});
  std::copy_if(extra.begin(), extra.end(), std::back_inserter(argv), [](const auto& a) {
    const bool hosts = std::any_of(std::begin(kHostLibraries), std::end(kHostLibraries),
                                   [&](const HostLibrary& l) { return a == l.option; });
    return !hosts && a != "-lnccl" && a != "-lcuda" && a != "-lnvrtc";
  });
  if (!segment_end.empty()) argv.push_back(segment_end);
  // Where the user is: the linker's options may name files from there.
  return run_tool(argv, worker ? program.parent_path() : fs::current_path(), worker);
}

}  // namespace ridge
