#include "cluster/src/intake/file_owners.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

namespace ridge::cluster {

namespace {

constexpr unsigned kNobody = static_cast<unsigned>(-1);  // no account has this number

// The ids and logins of a roster, any of which may be the name of an account.
std::vector<std::string> logins(const Student& s) {
  std::vector<std::string> all = {s.id};
  for (const StudentKey& k : s.keys)
    if (k.kind == "login") all.push_back(k.value);
  return all;
}

bool is_account_of(const Student& s, const std::string& account) { return std::ranges::count(logins(s), account) != 0; }

// The student's accounts on this machine, with commas between; empty where the roster tells none.
std::string accounts_here(const Student& s) {
  std::string all;
  for (const std::string& login : logins(s))
    if (getpwnam(login.c_str()) != nullptr) all += (all.empty() ? "" : ", ") + login;
  return all;
}

}  // namespace

bool open_to_others(const fs::path& dir, const Course& course) {
  std::error_code ec;
  struct stat st {};
  if (!course.dropbox.empty() && fs::equivalent(dir / "..", course.dropbox, ec)) return true;
  return stat(dir.c_str(), &st) == 0 && (st.st_mode & S_IWOTH) != 0;
}

FileOwner file_owner(Entry& entry, const fs::path& dir, bool open, const std::vector<Student>& roster) {
  FileOwner result;
  struct stat folder {};
  const bool known_folder = stat(dir.c_str(), &folder) == 0;
  const auto trusted = [&](uid_t uid) {
    return uid == geteuid() || uid == 0 || (known_folder && uid == folder.st_uid);
  };
  if (struct stat st{};
      open && entry.how == kByMetadata && lstat((dir / kMetadata).c_str(), &st) == 0 && !trusted(st.st_uid)) {
    result.refused = fmt::format("{} says whose it is, and anybody can put that file here", kMetadata);
    return result;
  }
  for (EntryPart& part : entry.parts) {
    struct stat st {};
    if (lstat(part.path.c_str(), &st) != 0) {
      if (open) part.account = kNobody;  // what comes in its place meanwhile is nobody's
      continue;
    }
    if (open && !trusted(st.st_uid)) {
      part.account = st.st_uid;
      entry.handed_in.reset(), entry.late = entry.in_time = false;
    }
    const passwd* account = getpwuid(st.st_uid);
    const auto name = account == nullptr ? std::nullopt : std::optional<std::string>(account->pw_name);
    const auto its = [&](const Student& s) { return name && is_account_of(s, *name); };
    if (std::ranges::any_of(entry.students, [&](const Student* s) { return its(*s); })) continue;
    if (name && std::ranges::any_of(roster, its)) {
      result.refused = fmt::format("it was handed in by {}'s account", *name);
      return result;
    }
    if (!open || trusted(st.st_uid)) continue;
    std::string accounts;
    for (const Student* s : entry.students)
      if (const std::string its_accounts = accounts_here(*s); !its_accounts.empty())
        accounts += (accounts.empty() ? "" : ", ") + its_accounts;
    const std::string owner = name ? *name : fmt::format("number {}", st.st_uid);
    if (!accounts.empty() || (name && entry.how == kByAccount)) {
      result.refused = fmt::format(
          "it was handed in by the account {}, which is not {}'s{}; if you trust it, copy it under the student's id, "
          "so that it is yours, and take the copy in",
          owner, entry.students[0]->id, accounts.empty() ? "" : " (" + accounts + ")");
      return result;
    }
    result.unproven = true;
  }
  return result;
}

}  // namespace ridge::cluster
