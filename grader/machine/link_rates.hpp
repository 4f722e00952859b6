// Rates of the links between the host and the GPUs, measured in a process of its own (a broken link may never answer),
// and what they say.
#pragma once
#include <string>
#include <vector>

#include "grader/base/doctor_facts.hpp"
#include "grader/machine/topology/topology.hpp"

namespace ridge {

struct LinkRate {
  std::string from, to;  // "host", or the PCI address of a GPU
  double bytes_per_s = 0;
  std::string problem;  // in place of a rate
};

struct LinkRun {
  std::vector<LinkRate> rates;
  std::string skipped;  // why nothing could be measured here
  std::string problem;  // why nothing was measured, although it should have been
  std::string hung;     // the link that was being measured when the time was over: "host 0000:19:00.0"
  int left = 0;         // links that the time did not reach
};

// Measures for about `seconds` and writes lines that parse_link_run reads. For the process of its own.
void measure_links(double seconds);
// `complete`: the process ended by itself.
LinkRun parse_link_run(const std::string& printed, bool complete);

// A line per kind of link, and one per link that is slower than 0.8 of its kind's median, or than 0.6 of what its PCI
// Express link carries.
Facts link_facts(const LinkRun& run, const Topology& topology);

}  // namespace ridge
