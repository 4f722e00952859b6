#include "web/deflate.hpp"

#include <zlib.h>

#include <stdexcept>

namespace ridge::viz::web {

struct Deflate::Stream {
  z_stream z{};
};

Deflate::Deflate(int level) : stream_(std::make_unique<Stream>()) {
  constexpr int kRaw = -15, kMemory = 9;
  if (deflateInit2(&stream_->z, level, Z_DEFLATED, kRaw, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib cannot begin\n  try: free memory");
}

Deflate::~Deflate() { deflateEnd(&stream_->z); }

std::string Deflate::add(std::string_view plain) {
  z_stream& z = stream_->z;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));  // zlib only reads
  z.avail_in = static_cast<uInt>(plain.size());
  std::string out;
  char some[32 << 10];
  do {
    z.next_out = reinterpret_cast<Bytef*>(some);
    z.avail_out = sizeof some;
    deflate(&z, Z_SYNC_FLUSH);
    out.append(some, sizeof some - z.avail_out);
  } while (z.avail_out == 0);
  return out;
}

}  // namespace ridge::viz::web
