// Tasks whose submission reads or writes files (runtime/files): the check owns them, and answers all calls.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "checks/check.hpp"
#include "runtime/files/service.hpp"

namespace ridge::lab {

// A file of the machine's own file system, which the judge makes for a call on a GPU.
struct RealFile {
  std::string name;       // without folders; differs between the calls of a turn
  std::size_t bytes = 0;  // of the file
  std::function<void(std::size_t offset, std::span<std::byte> to)> fill;  // called on several threads at once
};

// A TaskCheck of such a task derives from this, too.
class UsesFiles {
 public:
  virtual ~UsesFiles() = default;
  // The files of one run of `calls` calls; a run has new ones. Calls of several ranks come from several threads, and
  // the judge says in Request::rank whose each is; in a case without ranks the lab's entry.cu does.
  virtual std::unique_ptr<files::Service> make_files(const Case& c, std::size_t calls) const = 0;
  // Whether the calls of the task reach the machine's own file system on a GPU (backend cuda). Otherwise they reach the
  // files of make_files() there, too, and nothing of them is timed.
  virtual bool on_real_files() const { return false; }
  // There: the files that a call with these inputs reads. The submission may know their names, and not their contents.
  virtual std::vector<RealFile> real_files(const Case&, ConstBuffers /*in*/) const { return {}; }
  // There: whether a call fails that has brought its files into the page cache.
  virtual bool past_the_page_cache() const { return false; }
  // Behind TaskCheck::verify, which was satisfied. Not where the files were the machine's own.
  virtual Verdict verify_files(const Case& c, ConstBuffers in, ConstBuffers out, const files::Service& files) const = 0;
  // What the device must have been given in a measured call, at least (backend cpu): a call that gives it less has come
  // to its answer elsewhere.
  struct DeviceWork {
    double launches = 0;  // of kernels
    double bytes_from_host = 0;
    double bytes_to_host = 0;
  };
  virtual DeviceWork least_on_device(const Case&) const { return {}; }
  // A request of the measured call that may begin only when so many kernels have ended in virtual time: it publishes
  // what they make (backend cpu).
  struct AfterKernels {
    std::uint64_t request = 0;  // its number among the files' requests
    std::string kernel = {};    // the kernels' name
    std::size_t kernels = 0;
    std::string what = {};  // for the message: "the rename of step 12"
  };
  virtual std::vector<AfterKernels> after_kernels(const Case&, const files::Service&) const { return {}; }
  // As TaskCheck::marks, of a right answer; these follow those.
  virtual std::vector<Mark> file_marks(const Case&, const files::Service&) const { return {}; }
};

}  // namespace ridge::lab
