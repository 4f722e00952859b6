// NVTX on the emulator: ranges of the host. What is launched inside one carries its name in the timeline.
#pragma once
#ifdef __cplusplus
extern "C" {
#endif
int nvtxRangePushA(const char* message);  // the level, from 0
int nvtxRangePop(void);                   // the level that ended; negative: none was open
#ifdef __cplusplus
}
#endif
#define nvtxRangePush nvtxRangePushA
