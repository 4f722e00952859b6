// Thrust's algorithms on the host, whatever the policy: its system "cpp", whose vectors lie in device memory here
// (thrust/system/cpp/memory_resource.h).
#pragma once
#ifndef THRUST_DEVICE_SYSTEM
#define THRUST_DEVICE_SYSTEM 4  // THRUST_DEVICE_SYSTEM_CPP
#endif
#include_next <thrust/detail/config/device_system.h>

#include "ridge_simt/host_library.h"
