// What the lanes of a warp do together for wgmma.
#pragma once
#include <cstdint>

#include "ridge_simt/hopper/wgmma.h"

namespace ridge_simt {

// One lane's argument, before the lane waits for the others.
void check_wgmma(const WgmmaCall& own, std::uintptr_t pc);
// Work of collective(): for all 32 lanes.
void ask_wgmma(void* const* lanes, unsigned mask);
void commit_wgmma(void* const* lanes, unsigned mask);
void wait_wgmma(void* const* lanes, unsigned mask);
void meet_for_wgmma(void* const* lanes, unsigned mask);

}  // namespace ridge_simt
