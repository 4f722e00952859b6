#include "grader/compile/course_object.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "grader/base/defence.hpp"
#include "grader/base/sha256.hpp"
#include "grader/compile/prepared.hpp"
#include "grader/result/hashes.hpp"

namespace ridge {

namespace {

constexpr std::size_t kMostObjects = 48;

fs::path kept_object(const fs::path& source, const CompileOptions& options) {
  Hashes files;
  for (const auto& entry : fs::directory_iterator(source.parent_path()))
    if (entry.is_regular_file()) files[entry.path().filename().string()] = sha256_of_file(entry.path());
  std::string made_of =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{} {} {}\n{}\n{}\n", sha256_of_this_program(), combined(runtime_headers()),
                  source.filename().string(), combined(files), host_compiler().identity,
                  fmt::join(counting_flags(host_compiler()), " "), options.worker, options.instrumented,
                  options.sandboxed, fmt::join(options.include_dirs, " "), fmt::join(options.forbidden_headers, " "));
  for (int d = 0; d < static_cast<int>(Defence::count_); ++d) made_of += on(static_cast<Defence>(d)) ? '1' : '0';
  return prepared_dir() / (source.stem().string() + "." + sha256(made_of).substr(0, 24) + ".o");
}

}  // namespace

CompileFailure course_object(const fs::path& source, const fs::path& object, const CompileOptions& options) {
  std::error_code ec;
  const fs::path kept = kept_object(source, options);
  if (fs::copy_file(kept, object, fs::copy_options::overwrite_existing, ec)) {
    fs::last_write_time(kept, fs::file_time_type::clock::now(), ec);
    return {};
  }
  CompileFailure failure = compile_file(source, source.filename().string(), object, options);
  if (failure.output.empty() && keep_made(object, kept)) keep_newest(prepared_dir(), ".o", kMostObjects);
  return failure;
}

}  // namespace ridge
