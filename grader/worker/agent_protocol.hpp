// Between an agent (one per rank, trusted, holds MPI) and the judge: TCP, one struct after connecting.
#pragma once
#include <cstdint>
#include <type_traits>

namespace ridge::agent {

constexpr std::uint32_t kMagic = 0x31414452;  // "RDA1"

struct Report {
  std::uint32_t magic = kMagic;
  std::uint16_t version = 1;
  std::uint16_t ok = 0;     // the worker started and answered
  std::uint64_t token = 0;  // proves that the judge started this agent
  std::uint32_t rank = 0, size = 0;
  std::uint32_t agent_pid = 0, worker_pid = 0;
  double round_trip_s = 0;  // of an empty request to the worker
  double barrier_s = 0;     // of an MPI barrier between the agents
  char host[64] = {};
  char device[128] = {};
  char error[256] = {};
};
static_assert(std::is_trivially_copyable_v<Report> && sizeof(Report) == 496);

}  // namespace ridge::agent
