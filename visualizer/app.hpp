// The whole program between NewFrame and Render: the views, the rail that changes between them, the line with notes,
// errors.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "kit/view.hpp"
#include "progress/story_player.hpp"

namespace ridge::viz {

class App {
 public:
  explicit App(std::vector<std::unique_ptr<View>> views);

  // To every view that takes it. Throws OpenError.
  void open(const std::filesystem::path& path);
  // The same with the error shown inside the window.
  void open_or_say(const std::filesystem::path& path);
  // False where there is no view of this name.
  bool choose(const std::string& id);
  bool set(const std::string& key, const std::string& value);
  // Errors are shown inside the window.
  void grant(const Wish& wish);
  // Shows a story's step: its files, its view, its sentence. Throws as open() does.
  void tell(Story story, std::size_t step);

  // One frame of the window. `log` receives what this frame drew.
  void frame(const Theme& theme, LayoutLog& log);
  // The view alone on its ground, into a picture.
  void draw_view(Frame& frame);

  View& view() { return *views_[chosen_]; }
  const std::vector<std::unique_ptr<View>>& views() const { return views_; }
  bool busy() const { return views_[chosen_]->busy(); }
  double wake_after() const { return views_[chosen_]->wake_after(); }

  // In the line below; an error in a card.
  void say(const std::string& text) { said_ = text; }
  void say_error(const std::string& text) { error_ = text; }

  bool wants_picture = false;                 // Ctrl+E was pressed
  Look look;                                  // changed by keys; the window follows it
  std::vector<std::filesystem::path> recent;  // newest first; opened files move to its front
  std::vector<std::filesystem::path> opened;  // in this session, in order

 private:
  void keys();
  void rail(Frame& frame);
  void status_line(Frame& frame);
  void error_card(Frame& frame);
  void help(Frame& frame);
  void start_page(Frame& frame);
  bool nothing_open() const;

  std::vector<std::unique_ptr<View>> views_;
  std::size_t chosen_ = 0;
  bool asked_for_ = false;  // a view was chosen by name: opening a file does not change it
  std::string error_, said_;
  bool help_ = false, all_notes_ = false;
  StoryPlayer story_;
};

}  // namespace ridge::viz
