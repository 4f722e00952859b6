// ridge key makes and shows the keys that sign records.
#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "grader/base/error.hpp"
#include "grader/result/signature.hpp"

namespace ridge {

namespace {

fs::path key_file(const std::string& named) {
  fs::path file = named.empty() ? signing_key_file() : fs::path(named);
  if (file.empty())
    throw Error(Exit::usage, "no place for the key: neither HOME nor XDG_CONFIG_HOME is set", "name a file");
  return file;
}

int make_key(const std::string& file) {
  fs::path path = key_file(file);
  PublicKey key = new_signing_key(path);
  fmt::print("Made {} (private: whoever reads it can sign) and {}.pub\nkey id     {}\npublic key {}\n", shown(path),
             shown(path), key.id(), key.hex());
  return 0;
}

int show_key(const std::string& file) {
  fs::path path = key_file(file);
  PublicKey key = public_key(path.string());
  fmt::print("key id     {}\npublic key {}\n", key.id(), key.hex());
  return 0;
}

}  // namespace

void add_key(Commands& ridge) {
  CLI::App* command = ridge.add("key", "Keys that sign records", "  ridge key new");
  command->require_subcommand(1);
  auto file = std::make_shared<std::string>();
  const char* file_help = "Default: RIDGE_SIGNING_KEY, else ~/.config/ridge/signing.key";
  CLI::App* make = command->add_subcommand("new", "Make a key pair; never overwrites one");
  make->add_option("file", *file, file_help);
  ridge.set_action(make, [file] { return make_key(*file); });
  CLI::App* show = command->add_subcommand("show", "Print a key's public part");
  show->add_option("file", *file, file_help);
  ridge.set_action(show, [file] { return show_key(*file); });
}

}  // namespace ridge
