// Tasks whose submission reads or writes files (runtime/files): the check owns them, and answers all calls.
#pragma once
#include <memory>
#include <vector>

#include "checks/check.hpp"
#include "runtime/files/service.hpp"

namespace ridge::lab {

// A TaskCheck of such a task derives from this, too.
class UsesFiles {
 public:
  virtual ~UsesFiles() = default;
  // The files of one run of `calls` calls; a run has new ones. Calls of several ranks come from several threads, and
  // the judge says in Request::rank whose each is; in a case without ranks the lab's entry.cu does.
  virtual std::unique_ptr<files::Service> make_files(const Case& c, std::size_t calls) const = 0;
  // Behind TaskCheck::verify, which was satisfied.
  virtual Verdict verify_files(const Case& c, ConstBuffers in, ConstBuffers out, const files::Service& files) const = 0;
  // What the device must have been given in a measured call, at least (backend cpu): a call that gives it less has come
  // to its answer elsewhere.
  struct DeviceWork {
    double launches = 0;  // of kernels
    double bytes_from_host = 0;
  };
  virtual DeviceWork least_on_device(const Case&) const { return {}; }
  // As TaskCheck::marks, of a right answer; these follow those.
  virtual std::vector<Mark> file_marks(const Case&, const files::Service&) const { return {}; }
};

}  // namespace ridge::lab
