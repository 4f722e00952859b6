#include "serve/line_code.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <map>
#include <memory>

#include "grader/base/error.hpp"
#include "grader/base/sha256.hpp"
#include "serve/work_files.hpp"

namespace ridge::serve {

using nlohmann::json;

namespace {

constexpr std::size_t kMostInstructions = 400;  // of a line

// "copy_kernel" of "_Z11copy_kernelPKfPfmm".
std::string short_name(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  if (status != 0) return mangled;
  std::string name = text.get();
  const std::string hidden = "(anonymous namespace)::";
  if (const std::size_t at = name.find(hidden); at != std::string::npos) name.erase(at, hidden.size());
  name = name.substr(0, name.find('('));
  return name.starts_with("void ") ? name.substr(5) : name;
}

std::string contents_of(const fs::path& folder) {
  std::string all;
  std::error_code ec;
  std::map<std::string, fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, ec)) files[entry.path().filename().string()] = entry.path();
  for (const auto& [name, path] : files)
    if (const std::string kind = path.extension().string(); kind.starts_with(".cu") || kind.starts_with(".h"))
      all += name + sha256(file_text(path));
  return all;
}

}  // namespace

json LineCode::of(const Lab& lab, const std::string& file, int line) {
  const WorkFile now = read_work_file(lab, file);
  if (!now.problem.empty()) return {{"problem", now.problem}, {"instructions", json::array()}, {"version", ""}};
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return nullptr;
  const fs::path folder = work_dir() / lab.name;
  if (const std::string key = lab.name + "/" + file + contents_of(folder); key != key_) {
    try {
      code_ = device_code(lab, folder, file);
    } catch (const Error& e) {
      code_ = {"", "", "", {}, e.what()};
    }
    key_ = key;
  }
  json list = json::array();
  for (const DeviceInstruction& i : code_.instructions)
    if (i.line == line && list.size() < kMostInstructions)
      list.push_back({{"kernel", short_name(i.kernel)}, {"text", i.text}});
  return {{"form", code_.form},       {"compiler", code_.compiler}, {"target", code_.target},
          {"problem", code_.problem}, {"instructions", list},       {"version", now.version}};
}

}  // namespace ridge::serve
