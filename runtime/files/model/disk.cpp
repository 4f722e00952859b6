#include "disk.hpp"

#include <algorithm>
#include <cstring>

namespace ridge::files {

namespace {

constexpr std::size_t kTornAt = 512;   // a device writes a sector of so many bytes as a whole
constexpr std::uint64_t kPage = 4096;  // the unit in which the page cache is written back

void write_at(Bytes& to, std::uint64_t offset, const char* data, std::size_t bytes) {
  if (to.size() < offset + bytes) to.resize(offset + bytes);
  if (bytes > 0) std::memcpy(to.data() + offset, data, bytes);
}

// Whether the change is one of a name in `folder`.
bool in_folder(const Change& c, const std::string& folder) {
  return folder_of(c.path) == folder || (c.kind == Change::Kind::rename && folder_of(c.other) == folder);
}

}  // namespace

const char* name_of(Change::Kind kind) {
  switch (kind) {
    case Change::Kind::create:
      return "create";
    case Change::Kind::truncate:
      return "truncate";
    case Change::Kind::write:
      return "pwrite";
    case Change::Kind::sync_file:
      return "fsync";
    case Change::Kind::sync_folder:
      return "fsync of a folder";
    case Change::Kind::rename:
      return "rename";
    case Change::Kind::unlink:
      return "unlink";
    case Change::Kind::make_folder:
      return "mkdir";
  }
  return "";
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::uint64_t Disk::find(const std::string& path) const {
  const auto found = names_.find(path);
  return found == names_.end() ? 0 : found->second;
}

std::vector<std::string> Disk::list(const std::string& folder) const {
  std::vector<std::string> all;
  for (const auto& [path, number] : names_)
    if (folder_of(path) == folder) all.push_back(path.substr(folder.empty() ? 0 : folder.size() + 1));
  for (const std::string& path : folders_)
    if (folder_of(path) == folder) all.push_back(path.substr(folder.empty() ? 0 : folder.size() + 1) + "/");
  std::sort(all.begin(), all.end());
  return all;
}

void Disk::apply_name(const Change& c, std::map<std::string, std::uint64_t>& names, std::set<std::string>& folders) {
  switch (c.kind) {
    case Change::Kind::create:
      names[c.path] = c.file;
      break;
    case Change::Kind::rename:
      names.erase(c.path);
      names[c.other] = c.file;
      break;
    case Change::Kind::unlink:
      names.erase(c.path);
      break;
    case Change::Kind::make_folder:
      folders.insert(c.path);
      break;
    default:
      break;
  }
}

void Disk::apply(const Change& c) {
  switch (c.kind) {
    case Change::Kind::create:
      files_[c.file].layout = c.layout;
      next_ = std::max(next_, c.file + 1);
      [[fallthrough]];
    case Change::Kind::rename:
    case Change::Kind::unlink:
    case Change::Kind::make_folder:
      apply_name(c, names_, folders_);
      unsynced_names_.push_back(c);
      break;
    case Change::Kind::truncate:
      files_.at(c.file).now.resize(c.offset);
      files_.at(c.file).unsynced.push_back({c.offset, nullptr, c.rank});
      break;
    case Change::Kind::write: {
      File& f = files_.at(c.file);
      write_at(f.now, c.offset, c.data->data(), c.data->size());
      f.unsynced.push_back({c.offset, c.data, c.rank});
      break;
    }
    case Change::Kind::sync_file: {
      File& f = files_.at(c.file);
      if (!f.unsynced.empty()) f.durable = f.now;
      f.unsynced.clear();
      break;
    }
    case Change::Kind::sync_folder:
      sync_folder(c.path);
      break;
  }
}

// From the last change backwards, a change that is settled brings along the earlier ones of its names.
void Disk::sync_folder(const std::string& folder) {
  std::set<std::string> names;
  std::vector<bool> settled(unsynced_names_.size());
  for (std::size_t i = unsynced_names_.size(); i-- > 0;) {
    const Change& c = unsynced_names_[i];
    const bool renames = c.kind == Change::Kind::rename;
    settled[i] = in_folder(c, folder) || names.contains(c.path) || (renames && names.contains(c.other));
    if (!settled[i]) continue;
    names.insert(c.path);
    if (renames) names.insert(c.other);
  }
  std::vector<Change> rest;
  for (std::size_t i = 0; i < settled.size(); ++i)
    if (settled[i])
      apply_name(unsynced_names_[i], durable_names_, durable_folders_);
    else
      rest.push_back(std::move(unsynced_names_[i]));
  unsynced_names_ = std::move(rest);
}

void Disk::drop_orphans() {
  for (std::set<std::string>* folders : {&folders_, &durable_folders_})  // a folder comes before those in it
    for (auto at = folders->begin(); at != folders->end();)
      at = is_folder(folder_of(*at)) ? std::next(at) : folders->erase(at);
  for (auto* names : {&names_, &durable_names_})
    std::erase_if(*names, [this](const auto& name) { return !is_folder(folder_of(name.first)); });
}

void Disk::apply_partly(const Change& c, Random& random, bool torn_rename) {
  if (c.kind == Change::Kind::write) {
    const std::size_t sectors = c.data->size() / kTornAt;
    const std::size_t n = random.below(sectors + 1) * kTornAt;
    Change part = c;
    part.data = std::make_shared<const Bytes>(c.data->begin(), c.data->begin() + static_cast<std::ptrdiff_t>(n));
    if (n > 0) apply(part);
    return;
  }
  if (c.kind == Change::Kind::sync_file || c.kind == Change::Kind::sync_folder) return;  // nothing is promised yet
  if (c.kind == Change::Kind::rename && torn_rename) {
    // Remove the target, then link: the crash is between the two.
    if (find(c.other) != 0) {
      Change gone = c;
      gone.kind = Change::Kind::unlink;
      gone.path = c.other;
      apply(gone);
    }
    return;
  }
  if (random.coin()) apply(c);
}

void Disk::crash(Crash kind, Random& random, int rank) {
  if (kind == Crash::process) return;
  const auto at_stake = [rank](int whose) { return rank < 0 || whose == rank; };
  // Names: those of the others go on to wait for a sync.
  std::size_t mine = 0;
  for (const Change& c : unsynced_names_) mine += at_stake(c.rank) ? 1 : 0;
  std::size_t journaled = random.below(mine + 1);
  names_ = durable_names_;
  folders_ = durable_folders_;
  std::vector<Change> rest;
  for (Change& c : unsynced_names_) {
    if (at_stake(c.rank) && journaled == 0) continue;
    apply_name(c, names_, folders_);
    if (at_stake(c.rank)) {
      --journaled;
      apply_name(c, durable_names_, durable_folders_);
    } else {
      rest.push_back(std::move(c));
    }
  }
  unsynced_names_ = std::move(rest);
  drop_orphans();
  for (auto& [number, f] : files_) {
    f.now = f.durable;
    std::vector<File::Write> others;
    for (File::Write& w : f.unsynced) {
      if (!at_stake(w.rank)) {
        if (w.data == nullptr)
          f.now.resize(w.offset);
        else
          write_at(f.now, w.offset, w.data->data(), w.data->size());
        others.push_back(std::move(w));
        continue;
      }
      if (w.data == nullptr) {
        if (random.coin()) f.now.resize(w.offset), f.durable.resize(w.offset);
        continue;
      }
      // Pages reach the device in any order.
      const std::uint64_t end = w.offset + w.data->size();
      for (std::uint64_t at = w.offset; at < end;) {
        const std::uint64_t next = std::min(end, (at / kPage + 1) * kPage);
        if (random.coin())
          for (Bytes* to : {&f.now, &f.durable}) write_at(*to, at, w.data->data() + (at - w.offset), next - at);
        at = next;
      }
    }
    f.unsynced = std::move(others);
  }
}

void Disk::settle() {
  for (const Change& c : unsynced_names_) apply_name(c, durable_names_, durable_folders_);
  unsynced_names_.clear();
  for (auto& [number, f] : files_) {
    if (!f.unsynced.empty()) f.durable = f.now;
    f.unsynced.clear();
  }
}

}  // namespace ridge::files
