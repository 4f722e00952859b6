// For tasks whose contract says that the same call gives the same bits each time. The judge repeats each call that is
// not timed in new processes, which remember nothing of the first one. On the emulator their blocks start in another
// order.
#pragma once
#include "check.hpp"

namespace ridge::lab {

class SameBits {
 public:
  virtual ~SameBits() = default;
  // Whether this case is repeated.
  virtual bool repeats(const Case&) const { return true; }
  // Are the outputs of the repeated call, `again`, those of the first one, bit for bit?
  virtual Verdict verify_again(const Case& c, ConstBuffers in, ConstBuffers first, ConstBuffers again) const = 0;

 protected:
  // Says so of a difference.
  static Verdict other_bits(Verdict v) {
    if (v.ok) return v;
    v.message =
        "the same call once more gives other bits: " + v.message + "; a sum depends on the order in which blocks ran";
    v.secret = "the same call once more gives other bits: a sum depends on the order in which blocks ran";
    return v;
  }
};

}  // namespace ridge::lab
