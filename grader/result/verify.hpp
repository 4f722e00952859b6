// Whether records are what a judge wrote: schema, signature, and that none is an old one handed in again.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/result/hashes.hpp"
#include "grader/result/result.hpp"
#include "grader/result/signature.hpp"

namespace ridge {

struct VerifyOptions {
  std::vector<PublicKey> keys;         // who may sign; empty: anybody, and the answer says who did
  std::string after;                   // attempts up to this one are old
  std::optional<fs::path> submission;  // the files that the record must be about
};

struct Verified {
  std::string problem;  // empty: valid
  PublicKey signer;
  bool known_signer = false;  // the signer is one of the keys given
  Result result;              // filled as far as it was read
};

// One record's text: its form, its signature, and the options.
Verified verify_record(std::string_view text, const VerifyOptions& options);

// Several at once: no nonce and no attempt may come twice. One entry a text, in order.
std::vector<Verified> verify_records(const std::vector<std::string>& texts, const VerifyOptions& options);

}  // namespace ridge
