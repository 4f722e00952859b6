// Unpacks strangers' archives and repositories, in processes of their own.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "grader/base/paths.hpp"

namespace ridge::cluster {

// Unpacks into the empty folder `to`, and returns what is wrong with the archive, or an empty text. Throws
// Error(Exit::environment).
std::string unpack(const fs::path& archive, const fs::path& to);

bool is_repository(const fs::path& folder);
// Unpacks the last commit of HEAD before the deadline, else HEAD, and returns a problem or an empty text.
std::string check_out(const fs::path& repository, std::optional<std::int64_t> deadline, const fs::path& scratch,
                      const fs::path& to, std::optional<std::int64_t>& date);

// Whether the name is an archive's; `read`: one that unpack() reads.
bool is_archive(const std::string& name, bool& read);

}  // namespace ridge::cluster
