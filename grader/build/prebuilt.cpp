#include "grader/build/prebuilt.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "formats/json_fields.hpp"
#include "grader/base/error.hpp"
#include "grader/base/sha256.hpp"
#include "grader/base/text.hpp"
#include "grader/result/hashes.hpp"
#include "grader/result/record.hpp"
#include "grader/result/result.hpp"
#include "grader/result/signature.hpp"

namespace ridge {

using nlohmann::json;

namespace {

constexpr std::size_t kMaxProgram = std::size_t{1} << 30, kMaxManifest = 1 << 20;
constexpr const char* kBuildSchema = "ridge.build/1";  // signed as a record is, and never one

[[noreturn]] void does_not_fit(const fs::path& place, const std::string& why) {
  throw Error(Exit::environment, fmt::format("the built submission in {}: {}", shown(place), why),
              "build it again with --build-into, under the account that judges");
}

struct Open {
  int fd;
  explicit Open(int f) : fd(f) {}
  ~Open() {
    if (fd >= 0) close(fd);
  }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
};

void check_owner(const fs::path& place, const struct stat& s, const char* what) {
  if (s.st_uid != geteuid()) does_not_fit(place, fmt::format("{} belongs to another account", what));
  if ((s.st_mode & 022) != 0) does_not_fit(place, fmt::format("others may write {}", what));
}

std::string read_in(const fs::path& place, int folder, const char* name, std::size_t most) {
  Open file(openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat s {};
  if (file.fd < 0 || fstat(file.fd, &s) != 0 || !S_ISREG(s.st_mode) || s.st_size > static_cast<off_t>(most))
    does_not_fit(place, fmt::format("it has no {}", name));
  check_owner(place, s, name);
  std::string text(static_cast<std::size_t>(s.st_size), '\0');
  std::size_t at = 0;
  while (at < text.size()) {
    ssize_t n = read(file.fd, text.data() + at, text.size() - at);
    if (n <= 0) does_not_fit(place, fmt::format("{} can't be read", name));
    at += static_cast<std::size_t>(n);
  }
  return text;
}

void check_signature(const fs::path& place, json manifest) {
  const json s = manifest.value("signature", json());
  if (!s.is_object()) does_not_fit(place, "it is not signed");
  const PublicKey own = public_key(signing_key_file());
  manifest.erase("signature");
  if (s.value("public_key", json()) != own.hex()) does_not_fit(place, "it is not signed with the course's key");
  const std::string value = s.value("value", json()).is_string() ? s["value"].get<std::string>() : "";
  if (!signature_holds(canonical(manifest), own, value)) does_not_fit(place, "its signature does not fit");
}

}  // namespace

void keep_prebuilt(const fs::path& place, const BuiltWorker& built, const Lab& lab, lab::Backend backend,
                   const fs::path& src) {
  const std::string program = file_text(built.program);
  Hashes submitted = submission_hashes(src, lab);
  json unbuilt = json::array();
  for (const auto& u : built.unbuilt) {
    submitted[u.name] = u.sha256;  // a stub lies there
    unbuilt.push_back({{"name", u.name}, {"why", u.why}, {"messages", printable(u.messages)}, {"sha256", u.sha256}});
  }
  const json manifest = {{"schema", kBuildSchema},     {"lab", lab.name},
                         {"backend", backend},         {"submission", combined(submitted)},
                         {"unbuilt", unbuilt},         {"harness", combined(harness_hashes(lab, backend))},
                         {"program", sha256(program)}, {"compiler", built.compiler},
                         {"flags", built.flags},       {"seconds", built.seconds}};
  std::string text = canonical(manifest);
  if (signing_key_configured()) text = signed_record(text, signing_key_file());
  // A folder of its own beside it, which gets the name when it is whole.
  const fs::path next = place.string() + "." + new_nonce() + ".new";
  std::error_code ec;
  if (fs::exists(fs::symlink_status(place, ec)))
    throw Error(Exit::usage, shown(place) + " exists already", "name a new folder with --build-into");
  try {
    if (mkdir(next.c_str(), 0700) != 0)
      throw Error(Exit::environment, fmt::format("cannot make {}", shown(next)),
                  "check that its parent is there, and that this account may write in it");
    write_durably(next / "worker", program);
    write_durably(next / "build.json", text);
    fs::rename(next, place, ec);
    if (ec)
      throw Error(Exit::environment, fmt::format("cannot make {}: {}", shown(place), ec.message()),
                  "check that its parent folder can be written, and has space");
  } catch (...) {
    fs::remove_all(next, ec);
    throw;
  }
}

BuiltWorker take_prebuilt(const fs::path& place, const Lab& lab, lab::Backend backend, const fs::path& src,
                          const fs::path& dir, bool must_be_signed) {
  Open folder(open(place.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat s {};
  if (folder.fd < 0 || fstat(folder.fd, &s) != 0) does_not_fit(place, "there is no such folder");
  check_owner(place, s, "the folder");
  json m = json::parse(read_in(place, folder.fd, "build.json", kMaxManifest), nullptr, false);
  auto text_of = [&](const char* key) {
    return m.is_object() && m.contains(key) && m[key].is_string() ? m[key].get<std::string>() : std::string();
  };
  if (text_of("schema") != kBuildSchema) does_not_fit(place, "build.json is no manifest of a build");
  if (must_be_signed) check_signature(place, m);
  if (text_of("lab") != lab.name || text_of("backend") != name_of(backend))
    does_not_fit(place, "it was built for another lab or backend");
  if (text_of("submission") != combined(submission_hashes(src, lab)))
    does_not_fit(place, "it was built from other files");
  if (text_of("harness") != combined(harness_hashes(lab, backend)))
    does_not_fit(place, "another ridge, or another version of the lab, made it");
  const std::string program = read_in(place, folder.fd, "worker", kMaxProgram);
  BuiltWorker built;
  built.sha256 = sha256(program);
  if (text_of("program") != built.sha256) does_not_fit(place, "its program is not the one that was built");
  built.program = dir / "worker";  // what was hashed is what runs
  write_durably(built.program, program);
  if (chmod(built.program.c_str(), 0700) != 0) does_not_fit(place, "its copy can't be made executable");
  built.compiler = text_of("compiler"), built.flags = text_of("flags");
  for (const json& u : m.value("unbuilt", json::array()))
    built.unbuilt.push_back({text_at(u, "name"), text_at(u, "why"), text_at(u, "messages"), text_at(u, "sha256")});
  if (m.contains("seconds") && m["seconds"].is_number()) built.seconds = m["seconds"].get<double>();
  return built;
}

}  // namespace ridge
