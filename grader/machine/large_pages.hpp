// Memory in large pages, for buffers of gigabytes: the driver locks such pages about ten times as fast as those that it
// allocates itself (0.05 s a gigabyte, where cuMemHostAlloc takes 0.5 s on an H100's host).
#pragma once
#include <cstddef>

namespace ridge {

// Bytes that this process may take: what the machine has left, and what its control group allows.
double free_host_bytes();

// `bytes` of zeros, every page of them present; null where there are not so many.
void* map_large_pages(std::size_t bytes);
void unmap_large_pages(void* memory, std::size_t bytes);

}  // namespace ridge
