// CUDA has make_float4() and its kin here; the emulator defines them with the types.
#pragma once
#define __VECTOR_FUNCTIONS_H__
#include "vector_types.h"
