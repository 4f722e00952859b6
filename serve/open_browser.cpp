#include "serve/open_browser.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "grader/sandbox/process.hpp"

namespace ridge::serve {

namespace {

bool has(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != 0;
}

bool write_for_owner(const fs::path& file, const std::string& text) {
  std::error_code ec;
  fs::create_directories(file.parent_path(), ec);
  fs::remove(file, ec);
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  const bool whole = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(fd);
  return whole;
}

}  // namespace

void open_browser(const std::string& url, const fs::path& file) {
  if (isatty(1) == 0 || !(has("DISPLAY") || has("WAYLAND_DISPLAY"))) return;
  const fs::path program = find_program({"xdg-open"});
  if (program.empty()) return;
  if (!write_for_owner(file,
                       "<!doctype html><meta charset=\"utf-8\"><title>Ridge</title><meta http-equiv=\"refresh\" "
                       "content=\"0;url=" +
                           url + "\"><a href=\"" + url + "\">The lab</a>\n"))
    return;
  const pid_t pid = fork();
  if (pid < 0) return;
  if (pid == 0) {
    if (setsid() < 0 || fork() != 0) _exit(0);
    const int null = open("/dev/null", O_RDWR);
    for (int fd : {0, 1, 2}) dup2(null, fd);
    for (int fd = 3; fd < 1024; ++fd) close(fd);
    execl(program.c_str(), program.c_str(), file.c_str(), nullptr);
    _exit(127);
  }
  waitpid(pid, nullptr, 0);
}

}  // namespace ridge::serve
