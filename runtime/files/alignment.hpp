// What a real file system asks of reads and writes past the page cache.
#pragma once
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

namespace ridge::files {

// The unit of addresses, offsets and bytes of O_DIRECT on an open file. Linux tells it from 6.1 on (statx(2),
// STATX_DIOALIGN); where nobody tells, it is 4096. 0: the file system has no O_DIRECT.
inline int direct_alignment(int fd) {
#ifdef STATX_DIOALIGN
  struct statx s {};
  if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &s) == 0 && (s.stx_mask & STATX_DIOALIGN) != 0)
    return static_cast<int>(std::max(s.stx_dio_mem_align, s.stx_dio_offset_align));
#endif
  (void)fd;
  return 4096;
}

}  // namespace ridge::files
