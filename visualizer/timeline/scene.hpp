// Shared by the parts of the view: the trace with its analyses, the user's choices, and the layout.
#pragma once
#include <memory>
#include <optional>
#include <set>

#include "kit/view.hpp"
#include "timeline/analysis/collective.hpp"
#include "timeline/analysis/overlap.hpp"
#include "timeline/analysis/pipeline.hpp"
#include "timeline/analysis/statistics.hpp"
#include "timeline/picture.hpp"
#include "timeline/reader/loader.hpp"
#include "timeline/units.hpp"

namespace ridge::viz::timeline {

enum class Mode { events, overlap, collective, pipeline };

// Made once for each trace.
struct Trace {
  std::shared_ptr<const EventStore> store;
  std::vector<RankOverlap> overlap;
  std::optional<Collective> collective;
  std::optional<Pipeline> pipeline;
  std::vector<Kind> kind_of_category;                 // the kind of most events of a category
  std::vector<std::uint16_t> categories;              // by total time, the largest first
  struct Glance {                                     // one pixel of the minimap
    float compute = 0, communication = 0, other = 0;  // busy shares of the lanes of this kind
  };
  std::vector<Glance> minimap;
};
Trace make_trace(std::shared_ptr<const EventStore> store);

struct Choice {
  Mode mode = Mode::events;
  Time from = 0, to = 1;  // the visible range
  float scroll = 0;       // pixels
  std::uint32_t selected = kNone;
  std::optional<std::pair<Time, Time>> range;
  std::optional<Time> mark_a, mark_b;
  // Computed when the choice changes, not in every frame.
  std::optional<RangeStatistics> statistics;                   // statistics of the range
  std::vector<std::pair<std::string, std::string>> arguments;  // args of the selected event
  std::set<std::uint32_t> folded_lanes, folded_processes;
  std::string search;
  Found found;
  std::size_t found_at = 0;
};

// A horizontal strip: its contents and place.
struct Track {
  enum class What { process, lane, counter, overlap, ring, ring_model, pipeline, pipeline_ideal } what = What::lane;
  std::uint32_t index = 0;  // index of the process, lane, counter or rank
  float y0 = 0, y1 = 0;
};

struct Area {
  ImVec2 from, to;
  float width() const { return to.x - from.x; }
  float height() const { return to.y - from.y; }
};

struct Layout {
  Area header, minimap, axis, names, lanes, panel;
  Window window;
  std::vector<Track> tracks;
  float row = 0;             // height of one row of events
  float content = 0;         // height of all tracks
  std::vector<float> row_y;  // top of each row of the store; negative where it is not drawn
};

ImU32 colour_of(const Palette& c, Kind kind);
ImU32 colour_of(const Palette& c, const Trace& trace, std::uint16_t category);
ImU32 colour_of_micro_batch(const Palette& c, int micro_batch);
// Black or white, whichever is easier to read on `ground`.
ImU32 text_on(const Palette& c, ImU32 ground);

// scene.cpp: places the strips. The first begins at the top of the lanes minus the scroll.
void place_tracks(const Trace& trace, const Choice& choice, const Theme& theme, Layout& layout);
// draw_tracks.cpp
void draw_axis(Frame& frame, const Trace& trace, const Layout& layout);
void draw_minimap(Frame& frame, const Trace& trace, const Choice& choice, const Layout& layout);
void draw_tracks(Frame& frame, const Trace& trace, const Choice& choice, const Layout& layout, Picture& picture);
// draw_analysis.cpp
void draw_names(Frame& frame, const Trace& trace, const Layout& layout, const Track& track);
void draw_overlap(Frame& frame, const Trace& trace, const Layout& layout, const Track& track);
void draw_ring(Frame& frame, const Trace& trace, const Choice& choice, const Layout& layout, const Track& track);
void draw_pipeline(Frame& frame, const Trace& trace, const Layout& layout, const Track& track);
// draw_panel.cpp
void draw_panel(Frame& frame, const Trace& trace, const Choice& choice, const Layout& layout);
// The process's name for the user: "rank 2", else the name in the trace.
std::string name_of(const EventStore& store, std::uint32_t process);
std::string name_of_lane(const EventStore& store, std::uint32_t lane);

}  // namespace ridge::viz::timeline
