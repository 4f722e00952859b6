// Chrome traces: any text is a trace with its notes or an error, and every analysis ends.
#include "fuzz.hpp"
#include "timeline/analysis/collective.hpp"
#include "timeline/analysis/overlap.hpp"
#include "timeline/analysis/pipeline.hpp"
#include "timeline/analysis/statistics.hpp"
#include "timeline/picture.hpp"
#include "timeline/reader/loader.hpp"
#include "timeline/store/levels.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge::viz::timeline;
  using ridge::fuzz::promise;
  try {
    const EventStore s = load_text(ridge::fuzz::text_of(data, size));
    std::size_t events = 0;
    std::vector<Band> bands;
    for (std::uint32_t r = 0; r < s.rows.size(); ++r) {
      const Row& row = s.rows[r];
      bands.push_back({r, static_cast<float>(r), static_cast<float>(r) + 1});
      Time busy = 0;
      for (std::uint32_t e = row.first; e < row.last; ++e) {
        ++events;
        promise(s.duration[e] >= 0, "durations are not negative");
        promise(s.name[e] < s.strings.size() && s.category[e] < s.categories.size(), "names are known");
        busy += s.duration[e];
      }
      if (row.last > row.first)
        promise(summarise(s, row, s.begin[row.first], s.last + 1, row.first).busy == busy, "sums are exact");
    }
    promise(events == s.size(), "every event is in a row");
    for (const Arrow& a : s.arrows)
      promise((a.from == kNone || a.from < s.size()) && (a.to == kNone || a.to < s.size()), "arrows have their events");
    Picture picture;
    build_picture(s, bands, {s.first, s.last + 1, 0, 500}, picture);
    promise(picture.pieces.size() <= kMostPieces, "a frame is small");
    const auto overlap = overlap_of(s);
    for (const auto& r : overlap) promise(r.uncovered <= r.transfers, "what is exposed is communication");
    (void)collective_of(s);
    (void)pipeline_of(s);
    (void)statistics_of(s, s.first, s.last);
    (void)search(s, "a");
  } catch (const TraceError& e) {
    promise(std::string_view(e.what()).find("try:") != std::string_view::npos, "an error says what to try");
  }
  return 0;
}
