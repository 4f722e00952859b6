// What people put around a launch: streams, threads, allocations, prints.
#pragma once
#include <string>
#include <vector>

namespace ridge::test {

struct Manner {
  std::string name;
  std::string includes;  // lines before everything else
  std::string globals;   // before the contract function
  std::string body;      // of the function; @L@ is the launch, @S@ the stream that it goes to, @OUT@ the output pointer
  std::string stream = "stream";  // where @L@ goes
  std::string header;             // text of a helper header, "helper.hpp", where it is not empty
};

const std::vector<Manner>& manners();

}  // namespace ridge::test
