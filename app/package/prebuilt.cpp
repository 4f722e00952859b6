// ridge package tarball and deb pack this build for machines that build nothing. CPack packs what `cmake --install`
// puts together (cmake/RidgePackage.cmake).
#include <fmt/format.h>

#include <set>
#include <vector>

#include "app/package/course_copy.hpp"
#include "app/package/package.hpp"
#include "grader/base/error.hpp"
#include "grader/build/check_module.hpp"
#include "grader/result/result.hpp"
#include "grader/sandbox/process.hpp"
#include "ridge_version.hpp"

namespace ridge {

namespace {

const char* program_of(const std::string& part) {
  if (part == "mpi") return "ridge-agent";
  if (part == "cluster") return "ridge-unpack";
  return part == "viz" ? "ridge-viz" : part == "live" ? "ridge-live" : "ridge-serve";
}

void build_all(const PrebuiltArguments& a) {
  const std::string why = cannot_build();
  if (!why.empty())
    throw Error(Exit::environment, "what the package holds cannot be built: " + why, "run it where Ridge was built");
  const ProcessResult r = build_target("ridge_package");
  if (r.exit_code != 0)
    throw Error(Exit::environment, "what the package holds could not be built:\n" + r.output, "run `./ridge build`");
  for (const std::string& part : a.parts) {
    const fs::path program = build_dir() / "bin" / program_of(part);
    if (!fs::exists(program))
      throw Error(Exit::environment, shown(program) + " is not built",
                  fmt::format("run `./ridge build {}`", part == "cluster" ? "class" : part));
  }
}

// The package that CPack made, which is the only file in the folder with this extension.
fs::path only_package(const fs::path& folder, const std::string& extension) {
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().string().ends_with(extension)) return entry.path();
  return {};
}

}  // namespace

int package_prebuilt(const PrebuiltArguments& a) {
  const bool deb = a.format == "deb";
  needs_sources(deb ? "package deb" : "package tarball");
  std::error_code ec;
  if (fs::is_directory(a.out, ec)) throw Error(Exit::usage, shown(a.out) + " is a folder", "name a file");
  const fs::path cpack = find_program({"cpack"});
  if (cpack.empty()) throw Error(Exit::environment, "cpack was not found: it packs the archive", "install cmake");
  if (deb && find_program({"dpkg-deb"}).empty())
    throw Error(Exit::environment, "dpkg-deb was not found: it makes the package", "run this on Debian or Ubuntu");
  if (deb && !a.parts.empty() && (find_program({"dpkg-shlibdeps"}).empty() || find_program({"file"}).empty()))
    throw Error(Exit::environment, "dpkg-shlibdeps or file was not found: they say which packages the programs need",
                "apt-get install dpkg-dev file");
  build_all(a);

  // CPack wants four words for each part: the build folder, a name, the component, and the target folder.
  std::set<std::string> parts(a.parts.begin(), a.parts.end());
  parts.insert("ridge");
  if (a.solutions) parts.insert("solutions");
  std::string projects;
  for (const std::string& part : parts)
    projects += fmt::format("{}{};ridge;{};/", projects.empty() ? "" : ";", build_dir().string(), part);
  const TemporaryDir folder("package");
  ProcessLimits limits;
  limits.seconds = 300;
  const ProcessResult r =
      run_process({cpack.string(), "--config", (build_dir() / "CPackConfig.cmake").string(), "-G", deb ? "DEB" : "TGZ",
                   "-B", folder.path().string(), "-D", "CPACK_INSTALL_CMAKE_PROJECTS=" + projects},
                  folder.path(), limits);
  const fs::path made = r.exit_code == 0 ? only_package(folder.path(), deb ? ".deb" : ".tar.gz") : fs::path();
  if (made.empty())
    throw Error(Exit::environment, "CPack failed:\n" + r.output,
                "free some space, or set TMPDIR to a folder with space");
  const fs::path out = fs::absolute(a.out.empty() ? made.filename() : fs::path(a.out));
  const fs::path temporary = out.string() + ".new";
  fs::copy_file(made, temporary, fs::copy_options::overwrite_existing, ec);
  if (!ec) fs::rename(temporary, out, ec);
  if (ec) {
    const std::string why = ec.message();
    fs::remove(temporary, ec);
    throw Error(Exit::environment, fmt::format("cannot write {}: {}", shown(out), why),
                "free some space, or name another file");
  }
  fmt::print("{}: {:.1f} MB; {}\n", shown(out), static_cast<double>(fs::file_size(out)) / 1e6,
             a.solutions ? "with the reference solutions: not for students"
                         : "no solutions, wrong solutions, tests or history");
  if (deb)
    fmt::print("Install it: sudo apt-get install {}\nThen, as any user: ridge start 01\n",
               shown(out).find('/') == std::string::npos ? "./" + shown(out) : shown(out));
  else
    fmt::print("Unpack it anywhere: tar xf {}\nThen, in its folder: ./ridge start 01\n", shown(out));
  return 0;
}

int package_tree(const std::string& folder) {
  needs_sources("package tree");
  const fs::path to = folder;
  std::error_code ec;
  // An older package is removed; a student's files beside it stay.
  const auto parts = {"cluster", "docs", "labs", "runtime", "build", "solutions"};
  if (fs::exists(to / "build" / kPrebuiltMark, ec))
    for (const char* part : parts)
      if (!ec) fs::remove_all(to / part, ec);
  if (!ec) copy_course(to, {.labs = {}, .prebuilt = true}, ec);
  if (!ec) fs::create_directories(to / "build", ec);
  if (ec) throw Error(Exit::environment, fmt::format("cannot fill {}: {}", shown(to), ec.message()), "free some space");
  write_durably(to / "build" / kPrebuiltMark, fmt::format("ridge {} ({})\n", kVersion, kCommit));
  // Everybody may read the files, whatever the builder's umask is.
  std::vector<fs::path> all = {to, to / "ridge", to / "README.md", to / "LICENSE"};
  for (const char* part : parts)
    if (fs::exists(to / part)) {
      all.push_back(to / part);
      for (const auto& entry : fs::recursive_directory_iterator(to / part)) all.push_back(entry.path());
    }
  for (const fs::path& p : all) {
    const bool runs = fs::is_directory(p) || (fs::status(p).permissions() & fs::perms::owner_exec) != fs::perms::none;
    fs::permissions(p, static_cast<fs::perms>(runs ? 0755 : 0644));
  }
  return 0;
}

}  // namespace ridge
