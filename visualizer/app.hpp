// The program between NewFrame and Render: the views, the rail that switches between them, the line of notes, and
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

  // Opens the file in every view that takes it. Throws OpenError.
  void open(const std::filesystem::path& path);
  // Opens the file and shows an error inside the window.
  void open_or_say(const std::filesystem::path& path);
  // Shows the view of this name. False: there is none.
  bool choose(const std::string& id);
  bool set(const std::string& key, const std::string& value);
  // Fulfils a view's request and shows an error inside the window.
  void grant(const Wish& wish);
  // Shows one step of a story: its files, view and sentence. Throws OpenError.
  void tell(Story story, std::size_t step);

  // Draws one frame of the window; `log` records what it drew.
  void frame(const Theme& theme, LayoutLog& log);
  // Draws the view alone, into a picture.
  void draw_view(Frame& frame);

  View& view() { return *views_[chosen_]; }
  const std::vector<std::unique_ptr<View>>& views() const { return views_; }
  bool busy() const { return views_[chosen_]->busy(); }
  double wake_after() const { return views_[chosen_]->wake_after(); }

  // Shows a text in the line of notes, or an error in a card.
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
  bool asked_for_ = false;  // the user chose a view by name, so opening a file does not change it
  std::string error_, said_;
  bool help_ = false, all_notes_ = false;
  StoryPlayer story_;
};

}  // namespace ridge::viz
