#include "device/divide_trap.hpp"

#include <cstdint>
#include <cstring>

namespace ridge::simt {

#if defined(__x86_64__)

namespace {

// The registers in the order of their numbers in instructions.
constexpr int kRegisters[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                              REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

// div and idiv: what their divisor is, and where they end.
struct Division {
  unsigned bytes = 0;
  bool divisor_is_zero = false;
  std::uintptr_t end = 0;
};

bool decode(const gregset_t& g, Division& d) {
  const auto* p = reinterpret_cast<const std::uint8_t*>(g[REG_RIP]);
  bool sixteen = false;
  for (; *p == 0x66 || *p == 0x2e || *p == 0x3e || *p == 0xf2 || *p == 0xf3; ++p) sixteen = sixteen || *p == 0x66;
  const unsigned rex = (*p & 0xf0) == 0x40 ? *p++ : 0;
  if (*p != 0xf6 && *p != 0xf7) return false;
  d.bytes = *p == 0xf6 ? 1 : (rex & 8) != 0 ? 8 : sixteen ? 2 : 4;
  const unsigned modrm = p[1], mode = modrm >> 6, low = modrm & 7;
  if ((modrm >> 4 & 3) != 3) return false;  // neither /6 nor /7
  p += 2;
  std::uint64_t divisor = 0;
  if (mode == 3) {
    const bool high_byte = d.bytes == 1 && rex == 0 && low >= 4;  // ah, ch, dh, bh
    divisor =
        static_cast<std::uint64_t>(g[kRegisters[high_byte ? low - 4 : low | (rex & 1) << 3]]) >> (high_byte ? 8 : 0);
    d.end = reinterpret_cast<std::uintptr_t>(p);
  } else {
    std::uint64_t address = 0;
    bool no_base = mode == 0 && low == 5;
    const bool relative = no_base;
    if (low == 4) {
      const unsigned sib = *p++, index = (sib >> 3 & 7) | (rex & 2) << 2, base = sib & 7;
      if (index != 4) address += static_cast<std::uint64_t>(g[kRegisters[index]]) << (sib >> 6);
      no_base = mode == 0 && base == 5;
      if (!no_base) address += static_cast<std::uint64_t>(g[kRegisters[base | (rex & 1) << 3]]);
    } else if (!no_base) {
      address += static_cast<std::uint64_t>(g[kRegisters[low | (rex & 1) << 3]]);
    }
    if (mode == 1) {
      address += static_cast<std::uint64_t>(static_cast<std::int8_t>(*p++));
    } else if (mode == 2 || no_base) {
      std::int32_t offset;
      std::memcpy(&offset, p, sizeof offset);
      address += static_cast<std::uint64_t>(offset);
      p += sizeof offset;
    }
    d.end = reinterpret_cast<std::uintptr_t>(p);
    if (relative) address += d.end;
    std::memcpy(&divisor, reinterpret_cast<const void*>(address), d.bytes);
  }
  d.divisor_is_zero = d.bytes == 8 ? divisor == 0 : divisor << (64 - 8 * d.bytes) == 0;
  return true;
}

}  // namespace

bool finish_division(ucontext_t& context) {
  auto& g = context.uc_mcontext.gregs;
  Division d;
  if (!decode(g, d)) return false;
  const auto dividend = static_cast<std::uint64_t>(g[REG_RAX]);  // the upper half only extends it
  const std::uint64_t quotient = d.divisor_is_zero ? ~std::uint64_t{0} : dividend;
  const std::uint64_t rest = d.divisor_is_zero ? dividend : 0;
  auto put = [&](int name, std::uint64_t value) {
    const std::uint64_t old = static_cast<std::uint64_t>(g[name]);
    g[name] = static_cast<greg_t>(d.bytes == 8   ? value
                                  : d.bytes == 4 ? value & 0xffffffff
                                                 : (old & ~std::uint64_t{0xffff}) | (value & 0xffff));
  };
  if (d.bytes == 1) {  // in ax: the dividend, then both results
    const std::uint64_t both = (quotient & 0xff) | (rest & 0xff) << 8;
    g[REG_RAX] = static_cast<greg_t>((dividend & ~std::uint64_t{0xffff}) | both);
  } else {
    put(REG_RAX, quotient);
    put(REG_RDX, rest);
  }
  g[REG_RIP] = static_cast<greg_t>(d.end);
  return true;
}

#else

bool finish_division(ucontext_t&) { return false; }  // these processors do not trap

#endif

}  // namespace ridge::simt
