#pragma once
#include "ridge_simt/cub_device.h"
