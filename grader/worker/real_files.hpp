// Files on the machine's own file system, for tasks that are timed on a GPU: the judge makes them and opens them, and
// the worker reads through the descriptors that it gets. A worker sees no folder.
#pragma once
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checks/files.hpp"
#include "grader/base/paths.hpp"
#include "runtime/files/service.hpp"

namespace ridge {

class RealFiles : public files::Service {
 public:
  // Why there can be none here: a folder in memory, or a file system without O_DIRECT. Empty where there can be.
  static std::string why_not();

  RealFiles();
  ~RealFiles() override;
  RealFiles(const RealFiles&) = delete;
  RealFiles& operator=(const RealFiles&) = delete;

  // Set number `set` of buffers has these files from now on, in place of its earlier ones. They are on the storage when
  // this returns, and not in the page cache. Throws Error(Exit::environment) where they cannot be written.
  void replace(std::size_t set, const std::vector<lab::RealFile>& files);
  // Bytes of a set's files that are in the page cache. Nothing where the kernel does not tell.
  std::optional<std::uint64_t> cached_bytes(std::size_t set) const;
  // Behind calls on these sets, in a task that may not bring its files into the page cache: whether they have not.
  lab::Verdict verify(const lab::UsesFiles& check, std::span<const std::size_t> sets) const;

  files::Reply call(const files::Request& request, std::span<std::byte> window) override;
  int take_descriptor() override;
  const std::vector<files::Charged>& charged() const override { return charged_; }

 private:
  void write(const lab::RealFile& file);
  std::int64_t open(const files::Request& request);

  TemporaryDir folder_;
  int alignment_ = 0;
  std::map<std::size_t, std::map<std::string, std::size_t>> sets_;  // bytes of each file
  bool tells_pages_ = true;                                         // a page that was dropped is told as dropped
  int opened_ = -1;                                                 // for the worker
  std::mutex mutex_;
  std::vector<files::Charged> charged_;
};

}  // namespace ridge
