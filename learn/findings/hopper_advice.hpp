// What usually helps where the emulator found a wrong use of TMA, wgmma or an mbarrier.
#pragma once
#include <string>

namespace ridge::loop {

// Null where the message is about none of them.
const char* hopper_advice(const std::string& message);

}  // namespace ridge::loop
