#if __INCLUDE_LEVEL__ < 12
#warning messages upon messages upon messages upon messages upon messages upon messages upon messages
#include "copy.cu"
#include "copy.cu"
#else
int error here;
#endif
