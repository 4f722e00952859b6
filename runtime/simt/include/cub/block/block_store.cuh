#pragma once
#include "ridge_simt/cub_block.h"
