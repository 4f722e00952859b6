#include "grader/result/signature.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "grader/base/error.hpp"
#include "grader/base/sha256.hpp"
#include "grader/result/result.hpp"

namespace ridge {

namespace {

constexpr std::string_view kSecretMark = "ridge-ed25519-secret-1 ";
constexpr std::string_view kPublicMark = "ridge-ed25519-public-1 ";

std::string to_hex(const unsigned char* bytes, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

// Lower-case digits only: a value has one spelling.
bool from_hex(std::string_view text, unsigned char* bytes, std::size_t size) {
  auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  if (text.size() != 2 * size) return false;
  for (std::size_t i = 0; i < size; ++i) {
    int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    bytes[i] = static_cast<unsigned char>(high * 16 + low);
  }
  return true;
}

[[noreturn]] void key_problem(const std::string& what, const std::string& advice) {
  throw Error(Exit::environment, what, advice);
}

void start_sodium() {
  if (sodium_init() < 0) key_problem("libsodium could not start", "run `ridge doctor`");
}

// Memory that is locked, guarded by unmapped pages, and wiped at the end.
class Secret {
 public:
  explicit Secret(std::size_t size) : bytes_(static_cast<unsigned char*>(sodium_malloc(size))), size_(size) {
    if (bytes_ == nullptr) key_problem("no memory for a key", "close some programs");
  }
  ~Secret() { sodium_free(bytes_); }  // wipes first
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  unsigned char* data() { return bytes_; }
  char* text() { return reinterpret_cast<char*>(bytes_); }
  std::size_t size() const { return size_; }

 private:
  unsigned char* bytes_;
  std::size_t size_;
};

// Creates `file` with these rights and contents; fails where it exists.
void create(const fs::path& file, mode_t mode, const char* text, std::size_t size) {
  int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
  if (fd < 0)
    key_problem(fmt::format("cannot make {}: {}", shown(file), std::strerror(errno)),
                "a key that exists is never overwritten; name another file: `ridge key new FILE`");
  bool ok = write(fd, text, size) == static_cast<ssize_t>(size) && fsync(fd) == 0;
  int error = errno;
  close(fd);
  if (ok) return;
  unlink(file.c_str());
  key_problem(fmt::format("cannot write {}: {}", shown(file), std::strerror(error)), "free some space there");
}

// The seed in a key's file. No copy of it is left outside of `seed`.
void read_seed(const fs::path& file, Secret& seed) {
  prctl(PR_SET_DUMPABLE, 0);  // nobody may look into this process from now on, nor may it dump its core
  int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat info {};
  if (fd < 0 || fstat(fd, &info) != 0) {
    int error = errno;
    if (fd >= 0) close(fd);
    key_problem(fmt::format("cannot read the signing key {}: {}", shown(file), std::strerror(error)),
                "`ridge key new` makes one");
  }
  const bool safe = S_ISREG(info.st_mode) && info.st_uid == geteuid() && (info.st_mode & 077) == 0;
  Secret text(kSecretMark.size() + 64 + 1);
  ssize_t got = safe ? read(fd, text.data(), text.size()) : 0;
  char more;
  const bool whole = got == static_cast<ssize_t>(text.size()) && read(fd, &more, 1) == 0;
  close(fd);
  if (!safe)
    key_problem(shown(file) + " is no private file: others can read it, or it belongs to somebody else",
                "chmod 600 it, as the account that judges");
  if (!whole || std::memcmp(text.data(), kSecretMark.data(), kSecretMark.size()) != 0 ||
      text.text()[text.size() - 1] != '\n' || !from_hex({text.text() + kSecretMark.size(), 64}, seed.data(), 32))
    key_problem(shown(file) + " is no signing key of Ridge's", "`ridge key new` makes one");
}

}  // namespace

std::string PublicKey::hex() const { return to_hex(bytes.data(), bytes.size()); }
std::string PublicKey::id() const {
  return sha256({reinterpret_cast<const char*>(bytes.data()), bytes.size()}).substr(0, 16);
}

fs::path signing_key_file() {
  auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  if (std::string named = variable("RIDGE_SIGNING_KEY"); !named.empty()) return fs::absolute(named);
  if (std::string config = variable("XDG_CONFIG_HOME"); !config.empty()) return fs::path(config) / "ridge/signing.key";
  std::string home = variable("HOME");
  return home.empty() ? fs::path() : fs::path(home) / ".config/ridge/signing.key";
}

bool signing_key_configured() {
  std::error_code ec;
  fs::path file = signing_key_file();
  if (!file.empty() && fs::exists(file, ec)) return true;
  if (const char* named = std::getenv("RIDGE_SIGNING_KEY"); named != nullptr && *named != 0)
    throw Error(Exit::usage, "RIDGE_SIGNING_KEY names no file", "it holds a key's file name, never the key itself");
  return false;
}

std::optional<PublicKey> public_key_from_hex(std::string_view hex) {
  PublicKey key;
  if (!from_hex(hex, key.bytes.data(), key.bytes.size())) return std::nullopt;
  return key;
}

PublicKey public_key(const std::string& digits_or_file) {
  if (auto key = public_key_from_hex(digits_or_file)) return *key;
  for (const std::string& file : {digits_or_file, digits_or_file + ".pub"}) {
    std::ifstream in;
    in.rdbuf()->pubsetbuf(nullptr, 0);  // of a secret key's file, nothing but its mark is read
    in.open(file, std::ios::binary);
    std::string hex;
    char start[kPublicMark.size()] = {};
    if (!in.read(start, sizeof start) || std::string_view(start, sizeof start) != kPublicMark) continue;
    std::getline(in, hex);
    if (auto key = public_key_from_hex(hex)) return *key;
  }
  throw Error(Exit::usage,
              fmt::format("'{}' is no public key: neither 64 hexadecimal digits nor a .pub file",
                          digits_or_file.substr(0, 100)),
              "`ridge key show` prints one");
}

PublicKey new_signing_key(const fs::path& file) {
  start_sodium();
  std::error_code ec;
  if (!file.parent_path().empty() && fs::create_directories(file.parent_path(), ec))
    fs::permissions(file.parent_path(), fs::perms::owner_all, ec);
  fs::path open_part = file.string() + ".pub";
  if (fs::exists(fs::symlink_status(open_part, ec)))
    key_problem(shown(open_part) + " exists already", "a key is never overwritten; name another file");
  PublicKey key;
  Secret seed(crypto_sign_SEEDBYTES), secret(crypto_sign_SECRETKEYBYTES);
  randombytes_buf(seed.data(), seed.size());
  crypto_sign_seed_keypair(key.bytes.data(), secret.data(), seed.data());
  Secret text(kSecretMark.size() + 64 + 2);  // one more for sodium_bin2hex's end
  std::memcpy(text.data(), kSecretMark.data(), kSecretMark.size());
  sodium_bin2hex(text.text() + kSecretMark.size(), 65, seed.data(), seed.size());
  text.text()[kSecretMark.size() + 64] = '\n';
  create(file, 0600, text.text(), kSecretMark.size() + 65);
  std::string line = std::string(kPublicMark) + key.hex() + "\n";
  create(open_part, 0644, line.data(), line.size());
  return key;
}

Signature sign(std::string_view message, const fs::path& key_file) {
  start_sodium();
  Secret seed(crypto_sign_SEEDBYTES), secret(crypto_sign_SECRETKEYBYTES);
  read_seed(key_file, seed);
  Signature s;
  crypto_sign_seed_keypair(s.key.bytes.data(), secret.data(), seed.data());
  unsigned char value[crypto_sign_BYTES];
  crypto_sign_detached(value, nullptr, reinterpret_cast<const unsigned char*>(message.data()), message.size(),
                       secret.data());
  s.value = to_hex(value, sizeof value);
  return s;
}

bool signature_holds(std::string_view message, const PublicKey& key, std::string_view value) {
  start_sodium();
  unsigned char bytes[crypto_sign_BYTES];
  return from_hex(value, bytes, sizeof bytes) &&
         crypto_sign_verify_detached(bytes, reinterpret_cast<const unsigned char*>(message.data()), message.size(),
                                     key.bytes.data()) == 0;
}

}  // namespace ridge
