// Launches with attributes.
#include "api/api.hpp"

using namespace ridge::simt;

namespace {

bool is_cluster(const cudaLaunchAttributeValue& value) {
  const auto& c = value.clusterDim;
  return !(c.x == 1 && c.y == 1 && c.z == 1) && !(c.x == 0 && c.y == 0 && c.z == 0);  // zeros: as if not given
}

cudaError_t read_attributes(const cudaLaunchConfig_t& config, api::LaunchMode& mode) {
  if (config.numAttrs != 0 && config.attrs == nullptr) return cudaErrorInvalidValue;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config.attrs[i];
    switch (attribute.id) {
      case cudaLaunchAttributeIgnore:
      case cudaLaunchAttributeProgrammaticStreamSerialization:    // allows an overlap; here kernels follow each other
      case cudaLaunchAttributePriority:                           // and none could overtake another
      case cudaLaunchAttributeClusterSchedulingPolicyPreference:  // where clusters run changes no result
        break;
      case cudaLaunchAttributeCooperative:
        mode.cooperative = attribute.val.cooperative != 0;
        break;
      case cudaLaunchAttributeClusterDimension:
        if (is_cluster(attribute.val))
          mode.cluster = {attribute.val.clusterDim.x, attribute.val.clusterDim.y, attribute.val.clusterDim.z};
        break;
      case cudaLaunchAttributeAccessPolicyWindow:
      case cudaLaunchAttributeProgrammaticEvent:
      case cudaLaunchAttributeMemSyncDomainMap:
      case cudaLaunchAttributeMemSyncDomain:
      case cudaLaunchAttributePreferredClusterDimension:
      case cudaLaunchAttributeLaunchCompletionEvent:
      case cudaLaunchAttributeDeviceUpdatableKernelNode:
      case cudaLaunchAttributePreferredSharedMemoryCarveout:
      case cudaLaunchAttributeNvlinkUtilCentricScheduling:
        return cudaErrorNotSupported;
      default:  // a stream's, or none of CUDA's
        return cudaErrorInvalidValue;
    }
  }
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  return api::call([&](Engine& engine) {
    if (config == nullptr) return cudaErrorInvalidValue;
    api::LaunchMode mode(false);
    if (cudaError_t error = read_attributes(*config, mode)) return error;
    return api::launch(engine, function, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes,
                       config->stream, mode);
  });
}
}
