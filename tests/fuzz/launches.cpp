// Launch records, JSON from the worker: anything malformed gives an empty result.
#include "fuzz.hpp"
#include "grader/measure/counters.hpp"
#include "grader/result/result.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  auto lines = [](const std::vector<std::uint64_t>& offsets) {
    std::vector<std::pair<std::string, int>> found;
    for (auto offset : offsets) found.emplace_back("a.cu", static_cast<int>(offset % 100));
    return found;
  };
  Result result;
  TaskResult task;
  task.kernels = count_launches(std::string(fuzz::text_of(data, size)), lines).kernels;
  result.tasks.push_back(std::move(task));
  fuzz::promise(!to_json(result).empty(), "what was counted can be written");
  return 0;
}
