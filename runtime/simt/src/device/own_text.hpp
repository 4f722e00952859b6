// A program's instances of the standard library's templates replace ours when it is linked, and are instrumented:
// while a report is put together, they are host code, whatever kernel the report is about.
#pragma once

namespace ridge::simt {

class BlockRunner;
extern __thread BlockRunner* tls_runner;

class OwnText {
 public:
  OwnText() : runner_(tls_runner) { tls_runner = nullptr; }
  ~OwnText() { tls_runner = runner_; }
  OwnText(const OwnText&) = delete;

 private:
  BlockRunner* runner_;
};

}  // namespace ridge::simt
