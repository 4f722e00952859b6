#include "cluster/src/gradebook/database.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "grader/base/error.hpp"

namespace ridge::cluster {

namespace {

// Whether the disk has less room than SQLite's smallest files need.
bool no_room(const fs::path& dir) {
  struct statvfs s {};
  return statvfs(dir.c_str(), &s) == 0 && s.f_bavail * s.f_frsize < 128 * 1024;
}

[[noreturn]] void fail(sqlite3* db) {
  const int code = sqlite3_errcode(db);
  const char* name = sqlite3_db_filename(db, "main");
  const fs::path file = name == nullptr ? "" : name;
  std::string what = sqlite3_errmsg(db);
  const char* advice = "what was acknowledged before is kept; run the command again";
  if (code == SQLITE_BUSY) advice = "another process holds the gradebook; try again when it has ended";
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) advice = "is this file a gradebook? Restore it from a copy";
  // SQLite reports an I/O error where -wal and -shm have no room.
  if (code == SQLITE_FULL || ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && no_room(file.parent_path()))) {
    what = "its disk is full";
    advice =
        "free some space there, then `ridge cluster resume`: what was acknowledged is kept, and jobs go on meanwhile";
  }
  throw Error(Exit::environment, fmt::format("the gradebook {}: {}", shown(file), what), advice);
}

// The name of a network file system, by its magic number (statfs(2)); nullptr for others.
const char* network_kind(const fs::path& dir) {
  struct statfs s {};
  if (statfs(dir.c_str(), &s) != 0) return nullptr;
  switch (static_cast<unsigned long>(s.f_type) & 0xffffffffUL) {
    case 0x6969:
      return "NFS";
    case 0x0BD00BD0:
      return "Lustre";
    case 0x47504653:
      return "GPFS";
    case 0x19830326:
      return "BeeGFS";
    case 0xFF534D42:
      return "CIFS";
    case 0xFE534D42:
      return "SMB2";
    case 0x00C36400:
      return "Ceph";
    default:
      return nullptr;
  }
}

}  // namespace

Rows::Rows(sqlite3* db, std::string_view sql) : db_(db) {
  if (sqlite3_prepare_v2(db, sql.data(), static_cast<int>(sql.size()), &s_, nullptr) != SQLITE_OK) fail(db);
}
Rows::~Rows() { sqlite3_finalize(s_); }
void Rows::bind(std::int64_t v) { sqlite3_bind_int64(s_, next_++, v); }
void Rows::bind(double v) { sqlite3_bind_double(s_, next_++, v); }
void Rows::bind(std::string_view v) {
  sqlite3_bind_text(s_, next_++, v.data() == nullptr ? "" : v.data(), static_cast<int>(v.size()), SQLITE_TRANSIENT);
}
bool Rows::next() {
  const int code = sqlite3_step(s_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) fail(db_);
  return false;
}
std::int64_t Rows::integer(int column) const { return sqlite3_column_int64(s_, column); }
double Rows::number(int column) const { return sqlite3_column_double(s_, column); }
bool Rows::null(int column) const { return sqlite3_column_type(s_, column) == SQLITE_NULL; }
std::string Rows::text(int column) const {
  const auto* p = reinterpret_cast<const char*>(sqlite3_column_text(s_, column));
  return p == nullptr ? "" : std::string(p, static_cast<std::size_t>(sqlite3_column_bytes(s_, column)));
}

Database::Database(const fs::path& file, bool live) : file_(file) {
  if (const char* kind = live ? network_kind(file.parent_path()) : nullptr)
    throw Error(Exit::usage, fmt::format("the gradebook {} is on {}, where SQLite can lose data", shown(file), kind),
                "let `gradebook` in course.toml name a file on a local disk of the machine that collects");
  // SQLite gives -wal and -shm the mode of the file.
  if (const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600); fd >= 0) {
    struct stat s {};
    if (fstat(fd, &s) == 0 && (s.st_mode & 07) != 0) fchmod(fd, s.st_mode & 0770);
    close(fd);
  }
  if (sqlite3_open_v2(file.c_str(), &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr) != SQLITE_OK) {
    std::string why = db_ != nullptr ? sqlite3_errmsg(db_) : "no memory";
    sqlite3_close(db_);
    const bool full = no_room(file.parent_path());
    throw Error(Exit::environment,
                fmt::format("cannot open the gradebook {}: {}", shown(file), full ? "its disk is full" : why),
                full ? "free some space there, then `ridge cluster resume`"
                     : "check `gradebook` in course.toml, and that this account may write there");
  }
  sqlite3_busy_timeout(db_, 20000);
  if (struct stat s{}; stat(file.c_str(), &s) == 0) device_ = s.st_dev, inode_ = s.st_ino;
  try {
    if (live) script("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;");
  } catch (...) {
    sqlite3_close(db_);
    throw;
  }
}
Database::~Database() { sqlite3_close(db_); }

void Database::script(const std::string& sql) {
  if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail(db_);
}
void Database::require_in_place() const {
  struct stat s {};
  if (stat(file_.c_str(), &s) == 0 && s.st_dev == device_ && s.st_ino == inode_) return;
  throw Error(Exit::environment, fmt::format("the gradebook {} was moved or replaced while it is used", shown(file_)),
              "put it back with its files -wal and -shm (or restore a backup), then `ridge cluster resume`");
}
void Database::copy_to(const fs::path& file) {
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0)
    throw Error(errno == EEXIST ? Exit::usage : Exit::environment,
                fmt::format("cannot write {}: {}", shown(file), std::strerror(errno)),
                "name a new file, in a folder that this account may write in");
  close(fd);
  change("VACUUM INTO ?", file.string());
  Database copy(file, false);
  Rows sound = copy.query("PRAGMA integrity_check");
  if (!sound.next() || sound.text(0) != "ok")
    throw Error(Exit::environment, shown(file) + " is not sound: " + sound.text(0), "try another disk");
}
std::int64_t Database::last_id() const { return sqlite3_last_insert_rowid(db_); }
int Database::changed() const { return sqlite3_changes(db_); }

Transaction::~Transaction() {
  if (!open_) return;
  try {
    db_.script("ROLLBACK");
  } catch (const Error&) {  // on a full disk SQLite has rolled back already
  }
}

}  // namespace ridge::cluster
