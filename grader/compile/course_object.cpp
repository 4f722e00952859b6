#include "grader/compile/course_object.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "grader/compile/prepared.hpp"

namespace ridge {

namespace {

constexpr std::size_t kMostObjects = 48;

fs::path kept_object(const fs::path& source, const CompileOptions& options) {
  const std::string rest =
      fmt::format("{}\n{}\n{}\n{} {} {}\n{}\n{}\n", source.filename().string(), host_compiler().identity,
                  fmt::join(counting_flags(host_compiler()), " "), options.worker, options.instrumented,
                  options.sandboxed, fmt::join(options.include_dirs, " "), fmt::join(options.forbidden_headers, " "));
  return prepared_for(source.parent_path(), rest, source.stem().string(), ".o");
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
