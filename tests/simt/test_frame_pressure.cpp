// Live bytes of a function's frame, on flow graphs by hand.
#include "simt/rewrite/assembly/frame_pressure.hpp"
#include "support/catch.hpp"

using namespace ridge::simt;

namespace {

FrameUse load(std::int64_t offset, unsigned bytes = 4) { return {offset, bytes, bytes, true, false}; }
FrameUse store(std::int64_t offset, unsigned bytes = 4) { return {offset, bytes, bytes, false, true}; }

}  // namespace

TEST_CASE("frame pressure: slots that are used one after the other never live together") {
  CHECK(live_frame_bytes({{{store(0), load(0), store(4), load(4), store(8), load(8)}}, {{}}}, 12) == 4);
  CHECK(live_frame_bytes({{{store(0), store(4), store(8), load(0), load(4), load(8)}}, {{}}}, 12) == 12);
}

TEST_CASE("frame pressure: a value is live around a loop that reads it later") {
  // 0: stores a; 1: a loop with a value of its own; 2: reads a.
  const FrameFlow flow = {{{store(0)}, {store(4), load(4)}, {load(0)}}, {{1}, {1, 2}, {}}};
  CHECK(live_frame_bytes(flow, 8) == 8);
  // Nobody reads it: dead.
  CHECK(live_frame_bytes({{{store(0)}, {store(4), load(4)}, {}}, {{1}, {1, 2}, {}}}, 8) == 4);
}

TEST_CASE("frame pressure: bytes that no instruction names are an array") {
  CHECK(live_frame_bytes({{{store(0), load(0)}}, {{}}}, 404) == 404);
}

TEST_CASE("frame pressure: an address takes none, a whole vector register one float") {
  const FrameUse kept{0, 8, 0, false, true}, read{0, 8, 0, true, false};
  CHECK(live_frame_bytes({{{kept, read}}, {{}}}, 8) == 0);
  const FrameUse wide{0, 16, 4, false, true}, narrow{0, 4, 4, true, false};
  CHECK(live_frame_bytes({{{wide, narrow}}, {{}}}, 16) == 4);
}

TEST_CASE("frame pressure: accesses beyond the frame are not of it") {
  CHECK(live_frame_bytes({{{load(12, 8)}}, {{}}}, 16) == 16);
  CHECK(live_frame_bytes({{{load(-8, 4)}}, {{}}}, 0) == 0);
}
