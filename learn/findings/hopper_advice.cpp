#include "learn/findings/hopper_advice.hpp"

#include <string_view>
#include <utility>

namespace ridge::loop {

namespace {

constexpr const char* kBeforeCopy = "read of shared memory before its copy has arrived";

// The kinds of findings that the emulator names in runtime/simt/src/hopper.
constexpr std::pair<const char*, const char*> kAdvice[] = {
    {"shared memory is read by TMA or wgmma without a proxy fence",
     "TMA and wgmma read shared memory by a path of their own. Each thread that has stored executes fence.proxy.async, "
     "then all of them meet at a barrier, and only then one thread asks for the copy or the product."},
    {"shared memory is overwritten while wgmma reads it",
     "wgmma only begins a product: the tile belongs to the tensor cores until wgmma.wait_group says that the product "
     "has ended. Free the stage after that wait."},
    {"shared memory is overwritten while a bulk copy reads it",
     "The copy only begins at its instruction. The thread that asked for it waits with cp.async.bulk.wait_group.read, "
     "then the threads that store meet it at a barrier, and then they may overwrite the buffer."},
    {"shared memory is overwritten before its readers have come to a barrier",
     "A stage is empty when its readers have finished: they wait for their products, then they arrive at the barrier "
     "of the empty stage, and the producer waits for that phase before it asks for the next copy."},
    {kBeforeCopy,
     "Each warp that reads a tile waits for the mbarrier of its bytes first, with the parity of this use of the stage. "
     "Which barrier does the copy name, and which warp does not wait for it?"},
    {"accumulator is touched before wgmma.wait_group",
     "The accumulators belong to the tensor cores from the wgmma until wgmma.wait_group. Count the groups that may be "
     "under way at this wait, and scale or read the sums behind it."},
    {"wgmma without wgmma.fence",
     "After a thread has written to registers of a product, and before the first product, wgmma.fence orders these "
     "writes before the wgmma."},
    {"wgmma reads a tile with another swizzle than TMA wrote it with",
     "The tensor map and the matrix descriptor each name a swizzle, and both must be the same. `./ridge viz --view warp "
     "--set show=swizzle` shows the layouts."},
    {"mbarrier: wrong transaction count",
     "The bytes that one phase announces must be the sum of all boxes that arrive at its barrier: rows x columns x "
     "bytes of an element, also where a box reaches beyond the matrix. Which copy was not counted?"},
    {"hang at an mbarrier",
     "A phase ends when all arrivals and all announced bytes have come. Follow the barrier that the message names "
     "through its first phases: who should arrive in each of them, how often, and for which parity does each thread "
     "wait?"}};

// Whether a line of the message begins with this kind, or has it behind the name of its case.
bool tells(const std::string& message, const std::string& kind) {
  for (std::size_t at = message.find(kind); at != std::string::npos; at = message.find(kind, at + 1)) {
    const std::size_t before = at == 0 ? std::string::npos : message.find_last_not_of(' ', at - 1);
    if (before == std::string::npos || message[before] == '\n' || (message[before] == ':' && before + 2 == at))
      return true;
  }
  return false;
}

}  // namespace

const char* hopper_advice(const std::string& message) {
  for (const auto& [kind, advice] : kAdvice) {
    if (!tells(message, kind)) continue;
    // cp.async has batches in place of an mbarrier: its copies are called asynchronous, those of TMA bulk copies.
    if (std::string_view(kind) == kBeforeCopy && message.find("against the bulk copy") == std::string::npos) continue;
    return advice;
  }
  return nullptr;
}

}  // namespace ridge::loop
