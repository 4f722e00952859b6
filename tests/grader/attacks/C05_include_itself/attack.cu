#if __INCLUDE_LEVEL__ < 12
#warning messages upon messages upon messages upon messages upon messages upon messages upon messages
#include "copy.cu"
#include "copy.cu"
#elif !defined(FAILED)
#define FAILED
int error here;  // messages are shown where something fails
#endif
