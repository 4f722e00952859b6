#include "browser.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <utility>
#include <vector>

#include "pictures.hpp"
#include "web/web_loop.hpp"

namespace ridge::viz {
namespace {

// When the opened files were written last.
class Watch {
 public:
  explicit Watch(const App& app) {
    for (const auto& file : app.opened) files_.push_back({file, {}});
    look();
  }
  // Whether a file changed since the last look, and none since the one before: a file that is being written waits.
  bool changed() {
    const bool now = look();
    return std::exchange(changing_, now) && !now;
  }

 private:
  bool look() {
    bool different = false;
    for (auto& [file, time] : files_) {
      std::error_code error;
      const auto written = std::filesystem::last_write_time(file, error);
      if (!error) different |= std::exchange(time, written) != written;
    }
    return different;
  }
  std::vector<std::pair<std::filesystem::path, std::filesystem::file_time_type>> files_;
  bool changing_ = false;
};

// What a reader who cannot see the canvas gets.
std::string in_words(App& app) {
  std::string text = app.view().title();
  if (!app.opened.empty()) text += ": " + app.opened.back().filename().string();
  if (app.opened.size() > 1) text += fmt::format(" and {} more", app.opened.size() - 1);
  for (const auto& note : app.view().notes()) text += ". " + note;
  return text;
}

// Only messages go to stdout, whatever else the program or a library prints.
int claim_stdout() {
  const int out = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return out;
}

}  // namespace

int show_in_browser(const std::function<std::unique_ptr<App>()>& make) {
  std::signal(SIGPIPE, SIG_IGN);  // the page may go at any time
  const int out = claim_stdout();
  std::unique_ptr<App> app;
  try {
    app = make();
  } catch (const std::exception& e) {
    web::refuse_web(e.what(), out);
    throw;
  }
  LayoutLog log;
  Watch watch(*app);
  std::optional<web::Download> file;
  web::WebProgram program;
  program.look = [&]() -> Look& { return app->look; };
  program.wake_after = [&] { return app->wake_after(); };
  program.status = [&] { return in_words(*app); };
  program.layout = [&] { return log.json(); };
  program.download = [&] { return std::exchange(file, std::nullopt); };
  program.frame = [&](const Theme& theme, float width, float height) {
    app->frame(theme, log);
    if (!std::exchange(app->wants_picture, false)) return;
    LayoutLog own;
    file = {fmt::format("ridge-{}.svg", app->view().id()), svg_text(*app, theme, width, height, own)};
    app->say("sent " + file->name);
  };
  program.poll = [&] {
    if (!watch.changed()) return false;
    try {
      auto fresh = make();
      fresh->look = app->look;
      fresh->choose(app->view().id());
      app = std::move(fresh);
      watch = Watch(*app);
    } catch (const std::exception& e) {
      app->say_error(e.what());
    }
    return true;
  };
  return web::run_web(program, STDIN_FILENO, out);
}

}  // namespace ridge::viz
