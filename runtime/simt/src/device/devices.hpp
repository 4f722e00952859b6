// The emulated devices of the process: their number, each host thread's current device, and peer access.
// All are the device of RIDGE_DEVICE, on a node where each has a link to each other one.
#pragma once
#include <array>
#include <cstdint>

namespace ridge::simt {

constexpr int kMaxDevices = 64;  // bits of a mask

// RIDGE_DEVICES, or 1. Ends the program where that is no number of devices.
int device_count();
inline bool is_device(int device) { return device >= 0 && device < device_count(); }

// The current device of the calling host thread.
int current_device();
void set_current_device(int device);
// The device of threads that have not called cudaSetDevice.
void set_first_device(int device);

// Peer access: the devices whose memory kernels may access. Guarded by the engine's lock.
class Peers {
 public:
  static Peers& instance();
  // The devices whose memory kernels on `device` reach: a bit for each, its own included.
  std::uint64_t reachable(int device) const { return masks_[static_cast<std::size_t>(device)]; }
  bool enabled(int device, int peer) const { return (reachable(device) >> peer & 1) != 0; }
  void enable(int device, int peer, bool on);
  void reset(int device);  // access from it and to it ends

 private:
  Peers();
  std::array<std::uint64_t, kMaxDevices> masks_;
};

}  // namespace ridge::simt
