#include "grader/build/build.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <thread>

#include "grader/base/clock.hpp"
#include "grader/base/defence.hpp"
#include "grader/base/error.hpp"
#include "grader/base/sha256.hpp"
#include "grader/base/source_text.hpp"
#include "grader/base/text.hpp"
#include "grader/build/kept_baseline.hpp"
#include "grader/build/machine_fault.hpp"
#include "grader/build/nvcc.hpp"
#include "grader/build/object_cache.hpp"
#include "grader/build/stand_ins.hpp"
#include "grader/build/symbols.hpp"
#include "grader/compile/compile.hpp"
#include "grader/compile/course_object.hpp"
#include "grader/compile/symbol_tables.hpp"
#include "grader/machine/toolkit.hpp"
#include "grader/sandbox/process.hpp"
#include "grader/sandbox/sandbox.hpp"
#include "grader/sandbox/sandbox_gpu.hpp"
#include "simt/rewrite/policy/policy.hpp"

namespace ridge {

namespace {

constexpr std::uintmax_t kMaxFileBytes = 1 << 20;
constexpr std::size_t kMaxFiles = 64;

bool is_source(const fs::path& p) {
  static const std::set<std::string> known = {".cu", ".cuh", ".h", ".hpp", ".inc"};
  return known.count(p.extension().string()) != 0;
}

// A name that no shell, compiler or message can take for something else.
bool safe_name(const std::string& name) {
  return !name.empty() && name.size() <= 100 && name[0] != '.' && name[0] != '-' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return c < 128 && (std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == '+');
         });
}

void check_source_file(const fs::path& from) {
  std::error_code ec;
  if (!safe_name(from.filename().string()))
    throw Error(Exit::usage, "a source file of the submission has an unusual name",
                "use letters, digits, '_', '-' and '.'; begin with a letter");
  if (fs::is_regular_file(fs::symlink_status(from, ec)) && fs::hard_link_count(from, ec) > 1)
    throw Error(Exit::usage, shown(from) + " is a hard link: other names lead to the same file",
                "submit a copy of the file");
}

// Once it lies in the private folder, where nobody changes it any more: the text as compilers read it.
void keep_as_text(const fs::path& copy) {
  const std::string bytes = file_text(copy);
  const auto text = source_text(bytes);
  if (!text)
    throw Error(Exit::usage, fmt::format("{} {}", copy.filename().string(), kNoSourceText), "submit source files only");
  if (*text == bytes) return;
  std::ofstream out(copy, std::ios::binary | std::ios::trunc);
  if (!(out << *text).flush())
    throw Error(Exit::environment, "cannot write " + copy.string(),
                "free some space there, or set TMPDIR to a folder with space");
}

void copy_source(const fs::path& from, const fs::path& to) {
  std::error_code ec;
  if (!fs::is_regular_file(on(Defence::source_files) ? fs::symlink_status(from, ec) : fs::status(from, ec)))
    throw Error(Exit::usage, shown(from) + " is not a regular file", "submit plain source files, no links");
  if (fs::file_size(from, ec) > kMaxFileBytes)
    throw Error(Exit::usage, shown(from) + " is larger than 1 MiB", "submit source files only");
  copy_to_write(from, to, ec);
  if (ec)
    throw Error(Exit::environment, fmt::format("cannot copy {} to {}: {}", shown(from), to.string(), ec.message()),
                "free some space there, or set TMPDIR to a folder with space");
}

// Refuses directives in the private folder that let a file pass for another, or that reach outside.
void check_directives(const fs::path& dir) {
  if (!on(Defence::assembly_policy)) return;
  std::vector<simt::Violation> found;
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(dir)) files.insert(entry.path());
  for (const auto& file : files) {
    auto more = simt::check_directives(file_text(file), file.filename().string());
    found.insert(found.end(), more.begin(), more.end());
  }
  if (!found.empty()) throw Error(Exit::build, simt::messages(found), "correct these lines");
}

// A header of the submission would be read in the place of another's of its name.
void check_header_name(const std::string& name) {
  std::error_code ec;
  auto told = [&](const char* whose) {
    throw Error(Exit::usage, fmt::format("{} has the name of a header of {}", name, whose),
                "give your header another name");
  };
  for (const char* folder :
       {"runtime/simt/include", "runtime/simt/include/ridge_simt", "runtime/collectives/mpi/include"})
    if (fs::exists(root_dir() / folder / name, ec)) told("the emulator");
  if (const fs::path nvcc = find_nvcc();
      !nvcc.empty() && fs::exists(nvcc.parent_path().parent_path() / "include" / name, ec))
    told("the CUDA Toolkit");
}

[[noreturn]] void build_failed(const CompileFailure& failure, const fs::path& dir) {
  if (failure.environment)
    throw Error(Exit::environment, "the build could not run:\n" + scrub(failure.output, dir),
                disk_full(dir) ? "free some space in the temporary folder, or set TMPDIR to another"
                               : "set RIDGE_CXX to another clang++ or g++, without options of its own");
  throw Error(Exit::build, scrub(failure.output, dir), "correct the first error; later ones often follow from it");
}

using Compile = StandIns::Compile;

// Compiles as many files at a time as there are processors, two at least. Returns the objects, or throws with the
// messages of the first failing file in order.
std::vector<fs::path> compile_all(const std::vector<fs::path>& sources, const fs::path& dir, const Compile& compile) {
  std::vector<fs::path> objects;
  std::vector<CompileFailure> failures(sources.size());
  for (const auto& s : sources) objects.push_back(dir / (s.filename().string() + ".o"));
  std::atomic<std::size_t> next = 0;
  auto work = [&] {
    for (std::size_t i; (i = next++) < sources.size();) failures[i] = compile(sources[i], objects[i]);
  };
  std::vector<std::future<void>> workers;
  const std::size_t jobs = std::max(2u, std::min(8u, std::thread::hardware_concurrency()));
  for (std::size_t i = 0; i < std::min(jobs, sources.size()); ++i)
    workers.push_back(std::async(std::launch::async, work));
  for (auto& worker : workers) worker.get();
  for (const auto& f : failures)
    if (!f.output.empty()) build_failed(f, dir / "src");
  return objects;
}

// Checks the symbols that a submission's objects import and define, the first `count` of all, and replaces files that
// do not fit. The course's own entry is included. Returns the symbols of those that are left.
SymbolTables check_objects(const std::vector<fs::path>& sources, const std::vector<fs::path>& objects,
                           std::ptrdiff_t count, SymbolRules rules, StandIns& stand_ins, const Compile& compile) {
  // The functions of the C and C++ libraries that the worker uses.
  std::istringstream lines(file_text(build_dir() / "lib/ridge_worker_sealed.imports"));
  rules.worker_imports = {std::istream_iterator<std::string>(lines), {}};
  for (;;) {
    SymbolTables read = symbol_tables(objects);
    if (!on(Defence::symbol_policy)) return read;
    if (!read.whole) throw Error(Exit::environment, "readelf could not read what was compiled", "install binutils");
    std::vector<ObjectSymbols> symbols;
    for (std::ptrdiff_t i = 0; i < count; ++i)
      symbols.push_back(read_symbols(read.tables[i], objects[i].stem().string()));
    const std::vector<SymbolFault> faults = symbol_faults(symbols, rules);
    if (faults.empty()) return read;
    stand_ins.replace(faults, symbols, sources, objects, compile);
  }
}

BuiltWorker build_simt(std::vector<fs::path> sources, const fs::path& dir, const SymbolRules& rules, bool reuse,
                       bool reversed, StandIns& stand_ins) {
  CompileOptions options;
  options.include_dirs = {(root_dir() / "runtime").string()};
  if (std::find(rules.libraries.begin(), rules.libraries.end(), "MPI_") != rules.libraries.end())
    options.include_dirs.push_back((root_dir() / "runtime/collectives/mpi/include").string());
  options.sandboxed = options.worker = true;
  options.reuse = reuse;
  options.forbidden_headers = rules.headers;
  const std::string flags = fmt::format("{}", fmt::join(counting_flags(host_compiler()), " "));
  std::optional<ObjectCache> cache;
  if (reuse) cache.emplace(dir / "src", host_compiler().identity + " " + flags);
  const std::ptrdiff_t submitted = std::ssize(sources);
  if (std::find(rules.libraries.begin(), rules.libraries.end(), "cublas") != rules.libraries.end())
    sources.push_back(cublas_kernels());
  const Compile compile = [&](const fs::path& source, const fs::path& object) {
    if (cache && cache->fetch(source, object)) return CompileFailure{};
    CompileFailure f = compile_file(source, source.filename().string(), object, options);
    if (cache && f.output.empty()) cache->keep(source, object);
    return f;
  };
  auto objects = compile_all(sources, dir, [&](const fs::path& source, const fs::path& object) {
    if (source.parent_path() != dir / "src") return course_object(source, object, options);
    return stand_ins.retry(compile(source, object), source, object, compile);
  });
  const SymbolTables symbols = check_objects(sources, objects, submitted, rules, stand_ins, compile);
  if (reversed) std::reverse(objects.begin(), objects.end());
  BuiltWorker built;
  built.program = dir / "worker";
  if (CompileFailure f = link_program(objects, built.program, true, {}, &symbols); !f.output.empty())
    build_failed(f, dir / "src");
  built.compiler = host_compiler().name;
  built.flags = flags;
  return built;
}

// `rules`: none where the sources are the course's own. `libraries`: of the toolkit, "cublas".
BuiltWorker build_cuda(std::vector<fs::path> sources, const fs::path& dir, const SymbolRules* rules,
                       const std::vector<std::string>& libraries, StandIns& stand_ins) {
  const Nvcc compiler = nvcc_for_this_gpu();
  const fs::path& nvcc = compiler.path;
  const std::vector<std::string>& flags = compiler.flags;
  const Sandbox sandbox = builder_sandbox(dir);
  fs::path runtime = root_dir() / "runtime";
  const std::ptrdiff_t submitted = std::ssize(sources);
  const bool mpi = std::find(libraries.begin(), libraries.end(), "MPI_") != libraries.end();
  if (mpi) sources.push_back(runtime / "worker/mpi_ranks.cpp");
  sources.push_back(runtime / "files/client.cpp");
  sources.push_back(runtime / "files/threads.cpp");
  sources.push_back(runtime / "files/here.cpp");
  sources.push_back(runtime / "worker/worker.cpp");
  sources.push_back(runtime / "worker/initialisers.cpp");
  sources.push_back(runtime / "worker/backend_cuda.cpp");
  const Compile compile = [&](const fs::path& source, const fs::path& object) {
    std::vector<std::string> argv = {nvcc.string(),   "-c", source.string(), "-o",
                                     object.string(), "-I", runtime.string()};
    const std::vector<std::string> headers = rules != nullptr ? rules->headers : std::vector<std::string>();
    const fs::path headers_read = object.string() + ".headers";
    if (!headers.empty()) argv.insert(argv.end(), {"-MD", "-MF", headers_read.string()});
    if (mpi) argv.insert(argv.end(), {"-I", (runtime / "collectives/mpi/include").string()});
    argv.insert(argv.end(), flags.begin(), flags.end());
    ProcessLimits limits;
    limits.seconds = 180;
    // nvcc names its temporary files by process, and in a sandbox each run is process 2.
    Sandbox own = sandbox;
    fs::path temporary = dir / ("tmp-" + source.filename().string());
    fs::create_directories(temporary);
    own.writable.push_back(temporary);
    std::erase_if(own.environment, [](const std::string& e) { return e.rfind("TMPDIR=", 0) == 0; });
    own.environment.push_back("TMPDIR=" + temporary.string());
    ProcessResult r = run_process(argv, dir, limits, &own);
    CompileFailure f;
    if (r.exit_code != 0) {
      f.output = r.output.empty() ? fmt::format("nvcc ended with exit code {}", r.exit_code) : r.output;
      f.environment = disk_full(dir);
    } else {
      f.output = forbidden_header(headers_read, source.filename().string(), headers);
    }
    return f;
  };
  auto objects = compile_all(sources, dir, [&](const fs::path& source, const fs::path& object) {
    return stand_ins.retry(compile(source, object), source, object, compile);
  });
  if (rules != nullptr)
    check_objects(sources, {objects.begin(), objects.begin() + submitted}, submitted, *rules, stand_ins, compile);
  BuiltWorker built;
  built.program = dir / "worker";
  std::vector<std::string> argv = {nvcc.string(), "-o", built.program.string(), "-cudart=static"};
  for (const auto& o : objects) argv.push_back(o.string());
  argv.insert(argv.end(), flags.begin(), flags.end());
  for (const std::string& l : libraries)
    if (l != "MPI_") argv.push_back("-l" + l);
  if (!libraries.empty())
    argv.push_back(fmt::format("-Xlinker=-rpath={}/lib64", nvcc.parent_path().parent_path().string()));
  ProcessResult r = run_process(argv, dir, {}, &sandbox);
  if (r.exit_code != 0) build_failed({false, r.output}, dir / "src");
  built.compiler = compiler.name;
  built.flags = fmt::format("{}", fmt::join(flags, " "));
  return built;
}

BuiltWorker build(const std::vector<fs::path>& sources, lab::Backend backend, const fs::path& dir,
                  const SymbolRules* rules, const std::vector<std::string>& libraries, bool reuse, bool reversed,
                  StandIns& stand_ins) {
  double start = now();
  BuiltWorker built = backend == lab::Backend::cpu ? build_simt(sources, dir, rules != nullptr ? *rules : SymbolRules{},
                                                                reuse, reversed, stand_ins)
                                                   : build_cuda(sources, dir, rules, libraries, stand_ins);
  built.seconds = now() - start;
  return built;
}

std::vector<fs::path> sources_in(const fs::path& dir) {
  std::vector<fs::path> sources;
  for (const auto& entry : fs::directory_iterator(dir))
    if (entry.path().extension() == ".cu") sources.push_back(entry.path());
  std::sort(sources.begin(), sources.end());
  return sources;
}

}  // namespace

// The student's sources, then the lab's own on top: a submission can't replace the contract or the entry.
void stage(const Lab& lab, const Submission& submission, const fs::path& dir) {
  if (!fs::is_directory(submission.dir))
    throw Error(
        Exit::usage, fmt::format("there is no folder {}", shown(submission.dir)),
        fmt::format("`ridge start {}` makes one to work in; --submission names another", lab.name.substr(0, 2)));
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(submission.dir)) {
    if (!is_source(entry.path()) || entry.path().filename() == "baseline.cu") continue;
    if (++count > kMaxFiles)
      throw Error(Exit::usage, fmt::format("{} holds more than {} source files", shown(submission.dir), kMaxFiles),
                  "submit the lab's files only");
    if (on(Defence::source_files)) {
      check_source_file(entry.path());
      if (!fs::exists(lab.dir / entry.path().filename())) check_header_name(entry.path().filename().string());
    }
    copy_source(entry.path(), dir / entry.path().filename());
    if (on(Defence::source_files)) keep_as_text(dir / entry.path().filename());
  }
  for (std::size_t i = 0; i < submission.overrides.size(); ++i)
    copy_source(submission.overrides[i], dir / submission.override_names[i]);
  for (const auto& file : lab.files)
    if (!fs::exists(dir / file))
      throw Error(Exit::usage, fmt::format("{} has no {}", shown(submission.dir), file),
                  fmt::format("the lab's files are {}; `ridge start {}` adds what your copy lacks",
                              fmt::join(lab.files, ", "), lab.name.substr(0, 2)));
  for (const auto& entry : fs::directory_iterator(lab.dir))
    if (entry.path().extension() == ".hpp" || entry.path().filename() == "entry.cu") {
      // Off: the submission's own contract and entry stand.
      const fs::path copied = dir / entry.path().filename();
      if (!on(Defence::source_files) && fs::exists(copied)) continue;
      if (fs::exists(copied) && file_text(copied) != file_text(entry.path()))
        submission.note(
            fmt::format("{} is the lab's: what your copy of it changes is not used", entry.path().filename().string()));
      copy_source(entry.path(), dir / entry.path().filename());
    }
}

// The course's entry where none but the course's files lie: no header of the submission is in its way.
void stage_entry(const Lab& lab, const fs::path& dir) {
  fs::create_directories(dir);
  for (const auto& entry : fs::directory_iterator(lab.dir))
    if (entry.path().extension() == ".hpp" || entry.path().filename() == "entry.cu")
      copy_source(entry.path(), dir / entry.path().filename());
}

BuiltWorker build_worker(const Lab& lab, const Submission& submission, lab::Backend backend, const fs::path& dir) {
  fs::path src = dir / "src";
  fs::create_directories(src);
  stage(lab, submission, src);
  std::vector<fs::path> sources = sources_in(src);
  if (on(Defence::source_files)) {
    stage_entry(lab, dir / "course");
    for (fs::path& source : sources)
      if (source.filename() == "entry.cu") source = dir / "course/entry.cu";
  }
  if (backend == lab::Backend::cpu) check_directives(src);
  SymbolRules rules;
  rules.libraries = lab.libraries;
  if (auto known = lab.forbid.find(backend); known != lab.forbid.end()) rules.forbidden = known->second;
  rules.entry = lab.entry_calls;
  if (on(Defence::symbol_policy)) rules.headers = lab.forbidden_headers;
  StandIns stand_ins(lab, submission);
  try {
    BuiltWorker built = build(std::move(sources), backend, dir, &rules, lab.libraries, submission.reuse,
                              submission.reversed, stand_ins);
    built.unbuilt = stand_ins.unbuilt(false);
    return built;
  } catch (const Error& e) {
    stand_ins.undo();
    if (e.code == Exit::build) stand_ins.unbuilt(true);
    if (backend == lab::Backend::cpu)
      blame_machine(e, [](const fs::path& probe, const fs::path& place) {
        const fs::path source = place / "src" / probe.filename();
        StandIns none;
        fs::create_directories(source.parent_path());
        copy_source(probe, source);
        build_simt({source}, place, {}, false, false, none);
      });
    throw;
  }
}

BuiltWorker build_elsewhere(const Lab& lab, const fs::path& staged, const fs::path& dir) {
  Submission again;
  again.dir = staged;
  again.reversed = true;
  return build_worker(lab, again, lab::Backend::cpu, dir);
}

BuiltWorker build_baseline(const Lab& lab, const fs::path& dir) {
  fs::path src = dir / "src";
  fs::create_directories(src);
  for (const auto& entry : fs::directory_iterator(lab.dir))
    if (entry.path().extension() == ".hpp" || entry.path().filename() == "entry.cu" ||
        entry.path().filename() == "baseline.cu")
      copy_source(entry.path(), src / entry.path().filename());
  std::error_code none_there;
  for (const auto& entry : fs::directory_iterator(lab.dir / "baseline", none_there))
    copy_source(entry.path(),
                src / ((entry.path().extension() == ".cu" ? "baseline_" : "") + entry.path().filename().string()));
  const fs::path kept = kept_baseline(lab, src, nvcc_for_this_gpu());
  BuiltWorker built;
  built.program = dir / "worker";
  if (take_baseline(kept, built.program)) return built;
  StandIns none;
  built = build(sources_in(src), lab::Backend::cuda, dir, nullptr, lab.baseline_libraries, false, false, none);
  keep_baseline(built.program, kept);
  return built;
}

}  // namespace ridge
