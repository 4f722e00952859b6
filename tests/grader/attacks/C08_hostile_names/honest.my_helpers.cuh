#pragma once
inline unsigned blocks_of(std::size_t n) { return static_cast<unsigned>((n + 255) / 256); }
