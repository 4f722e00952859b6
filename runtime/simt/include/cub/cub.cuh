#pragma once
#include "ridge_simt/cub_block.h"
#include "ridge_simt/cub_device.h"
