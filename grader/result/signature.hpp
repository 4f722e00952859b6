// Signing keys and signatures: ed25519 by libsodium. The judge reads the secret key only after every worker is gone,
// and wipes it after use. Without libsodium at build time, everything here but the file names throws.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "grader/base/paths.hpp"

namespace ridge {

struct PublicKey {
  std::array<unsigned char, 32> bytes{};

  std::string hex() const;
  std::string id() const;  // the first 16 digits of the key's SHA-256: short enough to compare by eye
  bool operator==(const PublicKey&) const = default;
};

// RIDGE_SIGNING_KEY (a file's name, never a key), else XDG_CONFIG_HOME/ridge/signing.key, else
// ~/.config/ridge/signing.key.
fs::path signing_key_file();
// Whether there is such a file. Does not read it. Throws Error(Exit::usage) where RIDGE_SIGNING_KEY names none.
bool signing_key_configured();

// Makes a pair: `file` (mode 0600) and `file`.pub. Never overwrites.
PublicKey new_signing_key(const fs::path& file);

struct Signature {
  PublicKey key;
  std::string value;  // 128 hexadecimal digits
};

// Reads the key, signs, forgets the key. Refuses a key file that others can read.
Signature sign(std::string_view message, const fs::path& key_file);
bool signature_holds(std::string_view message, const PublicKey& key, std::string_view value);

// 64 lower-case hexadecimal digits.
std::optional<PublicKey> public_key_from_hex(std::string_view hex);
// Reads a key from its digits, a .pub file, or a secret key's file (then the .pub beside it). Throws
// Error(Exit::usage).
PublicKey public_key(const std::string& digits_or_file);

}  // namespace ridge
