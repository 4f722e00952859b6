// ridge verify says whether records are what a judge signed.
#include "grader/result/verify.hpp"

#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "app/commands/record_text.hpp"
#include "grader/base/text.hpp"
#include "grader/result/signature.hpp"

namespace ridge {

namespace {

struct VerifyArguments {
  std::vector<std::string> files;
  std::vector<std::string> keys;  // public keys that may sign, as digits or files; empty: nobody is known
  std::string after;              // name of an attempt; records up to it count as old
  std::string submission;         // folder that the record must be about
};

int verify_files(const VerifyArguments& a) {
  VerifyOptions options;
  for (const auto& key : a.keys) options.keys.push_back(public_key(key));
  options.after = a.after;
  if (!a.submission.empty()) options.submission = a.submission;
  std::vector<std::string> texts;
  for (const auto& file : a.files) texts.push_back(record_text(file));
  std::vector<Verified> all = verify_records(texts, options);
  bool valid = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Verified& v = all[i];
    valid = valid && v.problem.empty() && v.known_signer;
    if (!v.problem.empty()) {
      fmt::print("INVALID {}: {}\n", printable(a.files[i]), printable(v.problem));
      continue;
    }
    const Result& r = v.result;
    // Anybody can make a key, and sign any figures with it.
    if (!v.known_signer) {
      fmt::print(
          "UNKNOWN {}: signed by an unknown key, {}\n        its figures are whatever the key's owner wrote\n"
          "  try: name the course's key with --key\n",
          printable(a.files[i]), v.signer.id());
      continue;
    }
    std::string text = fmt::format("{} {:g} / {:g}, {} ({} on {}), attempt {}", r.lab, r.points, r.max, r.standing,
                                   r.mode, r.backend, r.attempt);
    fmt::print("valid   {}: {}\n        signed by {}, a key you named\n", printable(a.files[i]), printable(text),
               v.signer.id());
  }
  return valid ? 0 : 1;
}

}  // namespace

void add_verify(Commands& ridge) {
  CLI::App* command =
      ridge.add("verify", "Check that records are what a judge signed", "  ridge verify result.json --key course.pub");
  auto a = std::make_shared<VerifyArguments>();
  command->add_option("files", a->files, "Records (ridge.result/1)")->required();
  command->add_option("--key", a->keys, "Public key, or its file: who may sign")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("--after", a->after, "Attempt: records up to this one are old");
  command->add_option("--submission", a->submission, "Folder that the record must be about");
  ridge.set_action(command, [a] { return verify_files(*a); });
}

}  // namespace ridge
