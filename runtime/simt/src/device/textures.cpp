#include "device/textures.hpp"

namespace ridge::simt {

std::size_t texel_bytes(const cudaChannelFormatDesc& f) {
  const int bits[] = {f.x, f.y, f.z, f.w};
  int channels = 0;
  while (channels < 4 && bits[channels] != 0) ++channels;
  for (int i = 0; i < 4; ++i)
    if (bits[i] != (i < channels ? f.x : 0)) return 0;
  const bool size = f.x == 32 || f.x == 16 || (f.x == 8 && f.f != cudaChannelFormatKindFloat);
  if (!size || channels == 3 || f.f < cudaChannelFormatKindSigned || f.f > cudaChannelFormatKindFloat) return 0;
  return static_cast<std::size_t>(channels * f.x / 8);
}

TextureObjects& TextureObjects::instance() {
  static auto* objects = new TextureObjects;  // kernels may read until the process ends
  return *objects;
}

unsigned long long TextureObjects::add(const TextureObject& object) {
  std::lock_guard lock(mutex_);
  for (std::size_t tried = 1; tried < kMost; ++tried) {
    const std::size_t at = next_;
    next_ = at + 1 == kMost ? 1 : at + 1;
    if (objects_[at].load(std::memory_order_relaxed) != nullptr) continue;
    objects_[at].store(new TextureObject(object), std::memory_order_release);
    return at;
  }
  return 0;
}

bool TextureObjects::remove(unsigned long long handle, bool surface) {
  std::lock_guard lock(mutex_);
  const TextureObject* object = find(handle, surface);
  if (object == nullptr) return false;
  objects_[handle].store(nullptr, std::memory_order_release);
  delete object;
  return true;
}

const TextureObject* TextureObjects::find(unsigned long long handle, bool surface) const {
  if (handle == 0 || handle >= kMost) return nullptr;
  const TextureObject* object = objects_[handle].load(std::memory_order_acquire);
  return object != nullptr && object->surface == surface ? object : nullptr;
}

}  // namespace ridge::simt
