#include "grader/build/stand_ins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "grader/base/defence.hpp"
#include "grader/base/error.hpp"
#include "grader/base/sha256.hpp"
#include "grader/base/text.hpp"

namespace ridge {

namespace {

constexpr std::size_t kMessageBytes = 64 << 10;
constexpr std::size_t kMaxShown = 4000;  // bytes of messages that a check of the result holds

std::size_t index_of(const std::vector<ObjectSymbols>& symbols, const std::string& source) {
  const auto at = std::find_if(symbols.begin(), symbols.end(), [&](const auto& s) { return s.source == source; });
  return static_cast<std::size_t>(at - symbols.begin());
}

void write_over(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

}  // namespace

std::string scrub(std::string text, const fs::path& dir) {
  if (!on(Defence::scrubbed_messages)) return text;
  for (const std::string& prefix : {dir.string() + "/", dir.parent_path().string() + "/", root_dir().string() + "/"}) {
    std::string kept;
    std::size_t from = 0;
    for (std::size_t at; (at = text.find(prefix, from)) != std::string::npos; from = at + prefix.size())
      kept.append(text, from, at - from);
    text = kept.append(text, from, std::string::npos);
  }
  std::string plain;
  for (unsigned char c : text)
    if (c == '\n' || c == '\t' || (c >= 32 && c != 127)) plain += static_cast<char>(c);
  if (plain.size() <= kMessageBytes) return plain;
  const std::string note = "\nridge: the rest of the messages is left out\n";
  std::size_t end = plain.rfind('\n', kMessageBytes - note.size());
  if (end == std::string::npos) end = kMessageBytes - note.size();
  return plain.substr(0, end) + note;
}

bool StandIns::may_replace(const std::string& name) const {
  if (submission_ == nullptr || name == "entry.cu") return false;
  if (submission_->partial) return true;
  return !submission_->needed.empty() && name != submission_->needed &&
         std::find(lab_->files.begin(), lab_->files.end(), name) != lab_->files.end();
}

// The lab's stub, or nothing at all in the place of a file of the student's own.
bool StandIns::stub_for(const fs::path& source, const fs::path& object, const Compile& compile) {
  const std::string name = source.filename().string();
  const bool of_lab = std::find(lab_->files.begin(), lab_->files.end(), name) != lab_->files.end();
  std::error_code ec;
  if (of_lab)
    copy_to_write(lab_->dir / name, source, ec);
  else
    write_over(source, "");
  if (!ec) fs::remove(object, ec);  // one from the cache belongs to this account, which is not the compiler's
  return !ec && compile(source, object).output.empty();
}

void StandIns::keep(const fs::path& source, const std::string& submitted, const char* why,
                    const std::string& messages) {
  const std::string name = source.filename().string();
  std::lock_guard lock(mutex_);
  unbuilt_.push_back({name, why, capped(scrub(messages, source.parent_path()), kMaxShown), sha256(submitted)});
  submitted_[source] = submitted;
  const bool of_lab = std::find(lab_->files.begin(), lab_->files.end(), name) != lab_->files.end();
  submission_->note(!submission_->partial
                        ? fmt::format("{} {}; this task does not need it, and the lab's stub stands in", name, why)
                    : of_lab ? fmt::format("{} {}: its tasks earn nothing", name, why)
                             : fmt::format("{} {}, and is left out", name, why));
}

CompileFailure StandIns::retry(CompileFailure first, const fs::path& source, const fs::path& object,
                               const Compile& compile) {
  if (first.output.empty() || first.environment || !may_replace(source.filename().string())) return first;
  const std::string submitted = file_text(source);
  if (!stub_for(source, object, compile)) return first;
  keep(source, submitted, "does not compile", first.output);
  return {};
}

// Where the file that would define a function was replaced: that file's messages.
std::string StandIns::elsewhere(const std::string& function) const {
  for (const auto& [source, text] : submitted_)
    for (const auto& u : unbuilt_)
      if (u.name == source.filename() && defines(text, function))
        return fmt::format("  {} is in {}, which {}:\n{}", function, u.name, u.why, u.messages);
  return {};
}

// Which file has to answer for a fault, and the message.
StandIns::Blame StandIns::blame(const SymbolFault& fault, const std::vector<ObjectSymbols>& symbols,
                                const std::vector<fs::path>& sources) const {
  const std::string& caller = symbols[fault.object].source;
  const LinkedFunction function(fault.name);
  if (fault.kind != SymbolFault::Kind::missing) return {fault.object, fault.message};
  const std::string owner = caller == "entry.cu" ? contract_.file_of(function.name) : caller;
  const std::size_t object = index_of(symbols, owner);
  if (object == symbols.size()) return {fault.object, fault.message};
  return {object, contract_.missing(fault.name, owner, file_text(sources[object]), symbols[object].defined) +
                      elsewhere(function.name)};
}

void StandIns::replace(const std::vector<SymbolFault>& faults, const std::vector<ObjectSymbols>& symbols,
                       const std::vector<fs::path>& sources, const std::vector<fs::path>& objects,
                       const Compile& compile) {
  std::map<std::size_t, std::string> messages;  // by object
  for (const SymbolFault& f : faults) {
    // A function of the contract that a second file defines: the file that it belongs to stays.
    if (f.kind == SymbolFault::Kind::twice &&
        symbols[f.object].source == contract_.file_of(LinkedFunction(f.name).name))
      continue;
    const Blame b = blame(f, symbols, sources);
    messages[b.object] += b.message;
  }
  std::string fatal;
  for (const auto& [object, message] : messages)
    if (const fs::path& s = sources[object]; !may_replace(s.filename().string()) || submitted_.count(s) != 0)
      fatal += message;
  if (!fatal.empty() || messages.empty())
    throw Error(Exit::build, scrub(fatal, sources[0].parent_path()), "remove these names");
  for (const auto& [object, message] : messages) {
    const fs::path& source = sources[object];
    const std::string submitted = file_text(source);
    if (!stub_for(source, objects[object], compile))
      throw Error(Exit::build, scrub(message, source.parent_path()), "remove these names");
    keep(source, submitted, "cannot be linked", message);
  }
}

void StandIns::undo() {
  for (const auto& [file, text] : submitted_) write_over(file, text);
}

std::vector<BuiltWorker::Unbuilt> StandIns::unbuilt(bool failed) {
  std::sort(unbuilt_.begin(), unbuilt_.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  if (submission_ == nullptr || !submission_->partial || unbuilt_.empty()) return {};
  auto of_lab = [&](const std::string& f) {
    return std::find(lab_->files.begin(), lab_->files.end(), f) != lab_->files.end();
  };
  const auto programs = std::count_if(lab_->files.begin(), lab_->files.end(),
                                      [](const std::string& f) { return fs::path(f).extension() == ".cu"; });
  const auto lost = std::count_if(unbuilt_.begin(), unbuilt_.end(), [&](const auto& u) { return of_lab(u.name); });
  if (failed || lost == programs)
    throw Error(Exit::build, unbuilt_[0].messages, "correct the first error; later ones often follow from it");
  return unbuilt_;
}

}  // namespace ridge
