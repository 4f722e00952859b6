// The warp view's pictures of layouts, which need no recording: a swizzled tile, and the fragments of a wgmma.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "kit/view.hpp"
#include "warp/tile_layout.hpp"

namespace ridge::viz {

// The tile by rows and columns, and the same tile in shared memory. The element under the mouse, else the chosen one,
// is marked in both.
class TilePanel {
 public:
  bool set(const std::string& key, const std::string& value);
  void handle_keys();
  void draw(Frame& f, ImVec2 from, ImVec2 to);
  std::vector<std::pair<std::string, std::string>> keys() const;
  std::vector<std::string> notes() const;

 private:
  void draw_choices(Frame& f, ImVec2 at);
  void draw_tile(Frame& f, ImVec2 from, ImVec2 to, unsigned row, unsigned column);
  void draw_memory(Frame& f, ImVec2 from, ImVec2 to, unsigned row, unsigned column);
  void draw_address(Frame& f, ImVec2 from, ImVec2 to, unsigned row, unsigned column);
  // Draws one piece and returns whether the mouse is over it; `over_row_` and `over_column_` are then its element.
  void draw_piece(Frame& f, ImVec2 from, ImVec2 to, unsigned row, unsigned piece, unsigned chosen_row,
                  unsigned chosen_column);
  void fit();

  TileShape shape_;
  std::string refused_;  // the driver's answer to what was chosen last
  unsigned row_ = 3, column_ = 40;
  bool over_ = false;  // whether the mouse was over an element in the last frame
  unsigned over_row_ = 0, over_column_ = 0;
};

// The 64 x n accumulators of a wgmma, or its left factor in registers: which warp, lane and register has which element.
class FragmentPanel {
 public:
  bool set(const std::string& key, const std::string& value);
  void handle_keys();
  void draw(Frame& f, ImVec2 from, ImVec2 to);
  std::vector<std::pair<std::string, std::string>> keys() const;

 private:
  enum class Colour { warp, lane, reg };
  unsigned columns() const { return left_ ? 32 / element_bytes_ : n_; }
  unsigned registers() const { return left_ ? 4 : n_ / 2; }
  RegisterPlace place(unsigned row, unsigned column) const {
    return left_ ? left_place(row, column, element_bytes_) : accumulator_place(row, column);
  }
  std::string register_name(const RegisterPlace& p) const;
  ImU32 colour_of(const Theme& t, const RegisterPlace& p) const;
  void draw_choices(Frame& f, ImVec2 at);
  void draw_whole(Frame& f, ImVec2 from, ImVec2 to, unsigned row, unsigned column);
  void draw_part(Frame& f, ImVec2 from, ImVec2 to, unsigned row, unsigned column);
  std::string explain(unsigned row, unsigned column) const;
  void fit();

  bool left_ = false;
  unsigned n_ = 64, element_bytes_ = 2;
  Colour colour_ = Colour::warp;
  unsigned row_ = 21, column_ = 13;
  bool over_ = false;
  unsigned over_row_ = 0, over_column_ = 0;
};

}  // namespace ridge::viz
