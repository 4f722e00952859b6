#include "cluster/src/base/course_keys.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "grader/result/signature.hpp"

namespace ridge::cluster {

std::optional<Error> wrong_keys(const Course& c) {
  if (!c.is_signed) return std::nullopt;
  if (c.signing_key.empty() || c.keys.empty())
    return Error(Exit::usage, "[grading] in course.toml names no `signing_key` and `keys`: official results are signed",
                 "`ridge key new FILE` makes a pair; for a rehearsal say `signed = false`");
  try {
    const PublicKey own = sign("whose key is this", c.signing_key).key;
    std::vector<PublicKey> known;
    for (const std::string& key : c.keys) try {
        known.push_back(public_key(key));
      } catch (const Error& e) {
        return Error(Exit::usage, fmt::format("`keys` in course.toml: {}", e.what()),
                     fmt::format("the public half of {} is {}: name these digits, or write the file anew",
                                 shown(c.signing_key), own.hex()));
      }
    if (std::find(known.begin(), known.end(), own) == known.end())
      return Error(Exit::usage,
                   fmt::format("`keys` in course.toml lacks the public half of {}: every result would be rejected",
                               shown(c.signing_key)),
                   fmt::format("add \"{}\" to `keys`", own.hex()));
  } catch (const Error& e) {
    return Error(Exit::usage, fmt::format("signing_key in course.toml: {}", e.what()), e.advice);
  }
  return std::nullopt;
}

}  // namespace ridge::cluster
