// Stubs in the place of files that do not compile or do not fit: of those that nothing asks for, or of any where the
// rest is judged.
#pragma once
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "grader/build/build.hpp"
#include "grader/build/missing_function.hpp"
#include "grader/build/symbols.hpp"
#include "grader/compile/compile.hpp"

namespace ridge {

// Messages that name the student's own files, without private folders and without anything that a terminal would obey;
// of a flood, its first part. `dir`: where the sources lie.
std::string scrub(std::string text, const fs::path& dir);

class StandIns {
 public:
  using Compile = std::function<CompileFailure(const fs::path& source, const fs::path& object)>;

  StandIns() = default;
  StandIns(const Lab& lab, const Submission& submission) : lab_(&lab), submission_(&submission), contract_(lab) {}
  // `compile` again, where the file may have a stub.
  CompileFailure retry(CompileFailure first, const fs::path& source, const fs::path& object, const Compile& compile);
  // Replaces the files that `faults` are about. The objects are `objects`, compiled from `sources`. Throws
  // Error(Exit::build) with the messages where a file may not be replaced.
  void replace(const std::vector<SymbolFault>& faults, const std::vector<ObjectSymbols>& symbols,
               const std::vector<fs::path>& sources, const std::vector<fs::path>& objects, const Compile& compile);
  // Puts what was handed in back in the place of stubs: a record names its hash.
  void undo();
  // The files that do not count, by name. Throws the first one's messages if none of the lab's is left, or if `failed`:
  // the rest cannot be linked without it.
  std::vector<BuiltWorker::Unbuilt> unbuilt(bool failed);

 private:
  struct Blame {
    std::size_t object = 0;
    std::string message;
  };

  bool may_replace(const std::string& name) const;
  bool stub_for(const fs::path& source, const fs::path& object, const Compile& compile);
  void keep(const fs::path& source, const std::string& submitted, const char* why, const std::string& messages);
  Blame blame(const SymbolFault& fault, const std::vector<ObjectSymbols>& symbols,
              const std::vector<fs::path>& sources) const;
  std::string elsewhere(const std::string& function) const;

  const Lab* lab_ = nullptr;
  const Submission* submission_ = nullptr;
  Contract contract_;
  std::mutex mutex_;
  std::vector<BuiltWorker::Unbuilt> unbuilt_;
  std::map<fs::path, std::string> submitted_;
};

}  // namespace ridge
