#include <fmt/format.h>

#include "app/simulate/simulate.hpp"
#include "formats/trace_writer.hpp"

namespace ridge::simulate {

using namespace network;

std::string trace_of(const StepReport& report, const Layout& layout, const std::string& title) {
  constexpr std::size_t kMostBoxes = 200'000;
  TraceWriter writer(kMostBoxes);
  for (int s = 0; s < layout.pipeline; ++s) {
    writer.name_process(s, layout.pipeline == 1 ? "a replica" : fmt::format("stage {}", s));
    writer.name_track({s, 0}, "passes");
    writer.name_track({s, 1}, "data-parallel group");
  }
  for (const Span& span : report.timeline) {
    const bool network = span.kind == Span::Kind::reduce;
    std::string name;
    switch (span.kind) {
      case Span::Kind::forward:
        name = fmt::format("F{}", span.micro_batch);
        break;
      case Span::Kind::backward:
        name = fmt::format("B{}", span.micro_batch);
        break;
      case Span::Kind::reduce:
        name = "reduce gradients";
        break;
      case Span::Kind::update:
        name = "optimizer";
        break;
    }
    TraceArguments about;
    if (!network && span.kind != Span::Kind::update)
      about.number("micro_batch", span.micro_batch)
          .number("chunk", span.chunk)
          .text("direction", span.kind == Span::Kind::forward ? "forward" : "backward");
    writer.box({span.stage, network ? 1 : 0}, name, network ? "message" : "kernel", span.start, span.end, about);
  }
  return writer.text(TraceArguments().text("title", title + ", one simulated training step"));
}

}  // namespace ridge::simulate
