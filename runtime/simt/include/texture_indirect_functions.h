// cuda_runtime.h includes these functions already (ridge_simt/textures.h).
#pragma once
#define __TEXTURE_INDIRECT_FUNCTIONS_H__
#include "cuda_runtime.h"
