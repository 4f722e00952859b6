// A minimal interface to SQLite for the gradebook. Errors are Error(Exit::environment). Committed data is on disk.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "grader/base/names.hpp"
#include "grader/base/paths.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace ridge::cluster {

class Rows {  // the rows of a running statement
 public:
  Rows(sqlite3* db, std::string_view sql);
  ~Rows();
  Rows(Rows&& o) noexcept : db_(o.db_), s_(o.s_), next_(o.next_) { o.s_ = nullptr; }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  void bind(std::int64_t v);
  void bind(int v) { bind(std::int64_t{v}); }
  void bind(bool v) { bind(std::int64_t{v}); }
  void bind(double v);
  void bind(std::string_view v);
  void bind(const std::string& v) { bind(std::string_view(v)); }
  void bind(const char* v) { bind(std::string_view(v)); }
  template <Named E>
  void bind(E v) {
    bind(name_of(v));
  }
  template <class T>
  void bind(const std::optional<T>& v) {
    if (v)
      bind(*v);
    else
      ++next_;  // NULL
  }

  bool next();
  std::int64_t integer(int column) const;
  double number(int column) const;
  std::string text(int column) const;
  bool null(int column) const;

 private:
  sqlite3* db_;
  sqlite3_stmt* s_ = nullptr;
  int next_ = 1;
};

class Database {
 public:
  // Opens with WAL and synchronous=FULL; a new file can be read by this account alone. Throws Error(Exit::usage) on a
  // network file system, where locks and WAL are unreliable.
  // A backup, `live` false, may lie anywhere.
  explicit Database(const fs::path& file, bool live = true);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void script(const std::string& sql);
  template <class... A>
  Rows query(std::string_view sql, const A&... a) {
    Rows r(db_, sql);
    (r.bind(a), ...);
    return r;
  }
  // Runs a statement and returns the number of changed rows.
  template <class... A>
  int change(std::string_view sql, const A&... a) {
    Rows r = query(sql, a...);
    while (r.next()) {
    }
    return changed();
  }
  std::int64_t last_id() const;
  // Throws Error(Exit::environment) where the file was moved or replaced since it was opened.
  void require_in_place() const;
  // Writes a whole copy into a new file that only this account can read, and looks whether it is sound.
  void copy_to(const fs::path& file);

 private:
  int changed() const;
  sqlite3* db_ = nullptr;
  fs::path file_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

// A transaction, rolled back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& db) : db_(db) { db_.script("BEGIN IMMEDIATE"); }
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit() {
    db_.script("COMMIT");
    open_ = false;
  }

 private:
  Database& db_;
  bool open_ = true;
};

}  // namespace ridge::cluster
