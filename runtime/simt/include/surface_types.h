// Surface objects: arrays that kernels read and write by coordinates.
#pragma once
#define __SURFACE_TYPES_H__
#include "driver_types.h"

enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero = 0, cudaBoundaryModeClamp = 1, cudaBoundaryModeTrap = 2 };
enum cudaSurfaceFormatMode { cudaFormatModeForced = 0, cudaFormatModeAuto = 1 };

typedef unsigned long long cudaSurfaceObject_t RIDGE_NO_TEXTURES;
