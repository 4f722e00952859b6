// The tasks' kernels in several forms.
#pragma once
#include <string>
#include <vector>

namespace ridge::test {

struct KernelForm {
  std::string lab, header, task, file;
  std::string name;       // "float4"
  std::string signature;  // of the contract function
  std::string code;       // kernels; @B@ stands for the block's threads
  std::string launch;     // statements; @S@ stands for the stream
  std::string output;     // the pointer that is written
  std::vector<int> blocks;
};

const std::vector<KernelForm>& kernel_forms();

}  // namespace ridge::test
