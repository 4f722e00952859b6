// Between devices: who may access whose memory, and copies from one to another.
#include "api/api.hpp"
#include "device/device_profile.hpp"

using namespace ridge::simt;
using api::call;

namespace ridge::simt::api {

// In the default stream it waits for both devices, and what comes later on either waits for it.
cudaError_t submit_default_peer_copy(Engine& engine, const char* name, CUstream_st& stream, Work work) {
  if (cudaError_t error = legacy_use(stream)) return error;
  std::vector<OperationPtr> after;
  std::vector<CUstream_st*> others;
  for (int device : {work.to_device, work.from_device}) {
    CUstream_st& other = engine.streams.legacy(device);
    if (&other == &stream) continue;
    others.push_back(&other);
    for (auto& before : engine.streams.predecessors(other)) after.push_back(std::move(before));
  }
  OperationPtr copy = engine.submit(stream, std::move(work), name, device_profile().copy_call, std::move(after));
  for (CUstream_st* other : others) engine.submit(*other, {}, "", 0, {copy});
  return cudaSuccess;
}

}  // namespace ridge::simt::api

namespace {

cudaError_t check_pair(int device, int peer) {
  return is_device(device) && is_device(peer) ? cudaSuccess : cudaErrorInvalidDevice;
}

}  // namespace

namespace {
cudaError_t copy_3d_peer(const cudaMemcpy3DPeerParms* p, cudaStream_t stream, bool async) {
  if (p == nullptr || p->srcArray != nullptr || p->dstArray != nullptr) return api::keep(cudaErrorInvalidValue);
  if (cudaError_t error = check_pair(p->dstDevice, p->srcDevice)) return api::keep(error);
  cudaMemcpy3DParms q{};
  q.srcPos = p->srcPos;
  q.srcPtr = p->srcPtr;
  q.dstPos = p->dstPos;
  q.dstPtr = p->dstPtr;
  q.extent = p->extent;
  q.kind = cudaMemcpyDeviceToDevice;
  return async ? cudaMemcpy3DAsync(&q, stream) : cudaMemcpy3D(&q);
}
}  // namespace

extern "C" {

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call([&](Engine&) {
    if (can == nullptr) return cudaErrorInvalidValue;
    if (cudaError_t error = check_pair(device, peer)) return error;
    *can = device != peer;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return call([&](Engine&) {
    const int device = current_device();
    if (!is_device(peer)) return cudaErrorInvalidDevice;
    if (flags != 0) return cudaErrorInvalidValue;
    if (peer == device) return cudaErrorPeerAccessUnsupported;
    if (Peers::instance().enabled(device, peer)) return cudaErrorPeerAccessAlreadyEnabled;
    Peers::instance().enable(device, peer, true);
    return cudaSuccess;
  });
}

// Work that was launched before keeps its access.
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call([&](Engine&) {
    const int device = current_device();
    if (!is_device(peer)) return cudaErrorInvalidDevice;
    if (peer == device || !Peers::instance().enabled(device, peer)) return cudaErrorPeerAccessNotEnabled;
    Peers::instance().enable(device, peer, false);
    return cudaSuccess;
  });
}

// The attributes of two GPUs on an NVSwitch.
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attr, int from, int to) {
  return call([&](Engine&) {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (check_pair(from, to) != cudaSuccess || from == to) return cudaErrorInvalidDevice;
    switch (attr) {
      case cudaDevP2PAttrPerformanceRank:
      case cudaDevP2PAttrOnlyPartialNativeAtomicSupported:
        *value = 0;
        return cudaSuccess;
      case cudaDevP2PAttrAccessSupported:
      case cudaDevP2PAttrNativeAtomicSupported:
        *value = 1;
        return cudaSuccess;
      case cudaDevP2PAttrCudaArrayAccessSupported:
        *value = 0;  // there are no arrays
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t n) {
  if (cudaError_t error = check_pair(to_device, from_device)) return api::keep(error);
  return cudaMemcpy(to, from, n, cudaMemcpyDeviceToDevice);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t n,
                                cudaStream_t stream) {
  if (cudaError_t error = check_pair(to_device, from_device)) return api::keep(error);
  return cudaMemcpyAsync(to, from, n, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* p) { return copy_3d_peer(p, nullptr, false); }
cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) {
  return copy_3d_peer(p, stream, true);
}
}
