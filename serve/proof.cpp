#include "serve/proof.hpp"

#include <sodium.h>

#include <array>

#include "serve/token.hpp"

namespace ridge::serve {

namespace {

constexpr std::size_t kQuestionDigits = 32;
constexpr std::array<unsigned char, 20> kPurpose = {"ridge serve: proof"};  // the key signs nothing else

}  // namespace

Question new_question(const std::string& token) {
  const std::string question = new_token();
  return {question, answer_to(question, token)};
}

std::string answer_to(const std::string& question, const std::string& token) {
  if (question.size() != kQuestionDigits || question.find_first_not_of("0123456789abcdef") != std::string::npos)
    return {};
  std::array<unsigned char, crypto_auth_KEYBYTES> key{};
  crypto_generichash(key.data(), key.size(), reinterpret_cast<const unsigned char*>(token.data()), token.size(),
                     kPurpose.data(), kPurpose.size());
  std::array<unsigned char, crypto_auth_BYTES> mac{};
  crypto_auth(mac.data(), reinterpret_cast<const unsigned char*>(question.data()), question.size(), key.data());
  std::array<char, 2 * crypto_auth_BYTES + 1> hex{};
  sodium_bin2hex(hex.data(), hex.size(), mac.data(), mac.size());
  return hex.data();
}

}  // namespace ridge::serve
