#include "grader/result/hashes.hpp"

#include <fmt/format.h>

#include <set>

#include "grader/base/sha256.hpp"
#include "grader/base/source_text.hpp"

namespace ridge {

namespace {

bool is_source(const fs::path& p) {
  static const std::set<std::string> known = {".cu", ".cuh", ".h", ".hpp", ".inc"};
  return known.count(p.extension().string()) != 0;
}

// Files that are laid over a submission's, or never taken from it.
bool is_the_courses(const Lab& lab, const std::string& name) {
  if (name == "entry.cu" || name == "baseline.cu") return true;
  std::error_code ec;
  return fs::path(name).extension() == ".hpp" && fs::exists(lab.dir / name, ec);
}

void add(Hashes& all, const std::string& name, const fs::path& file) {
  std::error_code ec;
  if (fs::is_regular_file(file, ec)) all[name] = sha256_of_file(file);
}

// The text as compilers read it: a byte order mark and UTF-16 make no other submission.
std::string sha256_of_source(const fs::path& file) {
  std::error_code ec;
  if (fs::file_size(file, ec) > (1 << 20)) return sha256_of_file(file);  // no submission's
  const std::string bytes = file_text(file);
  return sha256(source_text(bytes).value_or(bytes));
}

}  // namespace

Hashes submission_hashes(const fs::path& dir, const Lab& lab) {
  Hashes all;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(dir, ec)) {
    std::string name = entry.path().filename().string();
    if (is_source(name) && !is_the_courses(lab, name) && fs::is_regular_file(entry.path(), ec))
      all[name] = sha256_of_source(entry.path());
  }
  return all;
}

const Hashes& runtime_headers() {
  static const Hashes all = [] {
    Hashes folders;
    for (const char* folder : {"runtime/lab", "runtime/nn", "runtime/collectives", "runtime/simt/include"}) {
      Hashes files;
      std::error_code ec;
      for (const auto& entry : fs::recursive_directory_iterator(root_dir() / folder, ec))
        if (entry.path().extension() != ".cpp" && entry.path().extension() != ".md")
          add(files, entry.path().lexically_relative(root_dir()).string(), entry.path());
      folders[folder] = combined(files);
    }
    return folders;
  }();
  return all;
}

Hashes lab_hashes(const Lab& lab) {
  Hashes all;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(lab.dir, ec)) {
    fs::path name = entry.path().filename();
    if (name == "lab.toml" || name == "check.cpp" || name == "entry.cu" || name == "baseline.cu" ||
        name.extension() == ".hpp")
      add(all, "labs/" + lab.name + "/" + name.string(), entry.path());
  }
  for (const char* folder : {"check", "baseline"})
    for (const auto& entry : fs::directory_iterator(lab.dir / folder, ec))
      add(all, fmt::format("labs/{}/{}/{}", lab.name, folder, entry.path().filename().string()), entry.path());
  return all;
}

Hashes harness_hashes(const Lab& lab, lab::Backend backend) {
  Hashes all = lab_hashes(lab);
  all["bin/ridge"] = sha256_of_this_program();
  add(all, "bin/ridge-sandbox-exec", build_dir() / "bin/ridge-sandbox-exec");
  add(all, "lib/labs/" + lab.name + ".so", check_module(lab));
  for (const auto& [folder, hash] : runtime_headers())
    if (backend == lab::Backend::cpu || folder != "runtime/simt/include") all[folder] = hash;
  if (backend == lab::Backend::cpu) {
    for (const char* name : {"lib/libridge_simt.a", "lib/libridge_collectives.a", "lib/libridge_worker.a"})
      add(all, name, build_dir() / name);
  } else {
    for (const char* name : {"runtime/files/client.cpp", "runtime/files/threads.cpp", "runtime/files/here.cpp",
                             "runtime/worker/worker.cpp", "runtime/worker/backend_cuda.cpp",
                             "runtime/worker/initialisers.cpp", "runtime/worker/mpi_ranks.cpp"})
      add(all, name, root_dir() / name);
  }
  return all;
}

std::string combined(const Hashes& hashes) {
  std::string lines;
  for (const auto& [name, hash] : hashes) lines += hash + "  " + name + "\n";
  return sha256(lines);
}

}  // namespace ridge
