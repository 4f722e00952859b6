// CUDA has make_float4() and its kin here; the emulator defines them with the types.
#pragma once
#include "vector_types.h"
