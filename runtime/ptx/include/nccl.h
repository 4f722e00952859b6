// NCCL as the emulator declares it: the names and types are NCCL's own.
#pragma once
#include "../../simt/include/nccl.h"
