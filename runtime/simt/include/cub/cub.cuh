#pragma once
#include <chrono>  // as CUDA's own brings it

#include "ridge_simt/cub_block.h"
#include "ridge_simt/cub_device.h"
#include "ridge_simt/cub_more.h"
#include "ridge_simt/cub_types.h"
