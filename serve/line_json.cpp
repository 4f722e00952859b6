#include "serve/line_json.hpp"

#include "grader/base/paths.hpp"
#include "learn/attempts/attempts.hpp"
#include "learn/report/warp_svg.hpp"
#include "serve/viz_socket.hpp"

namespace ridge::serve {

using nlohmann::json;

json line_json(const Lab& lab, const std::string& task, const std::string& file, std::uint64_t line) {
  json out{{"accesses", json::array()}, {"judged", ""}};
  const std::vector<std::string> ids = loop::own_attempts(lab);
  for (std::size_t i = ids.size(); i > 0; --i) {
    const auto attempt = loop::load_attempt(lab.name, ids[i - 1]);
    if (!attempt) continue;
    for (const TaskResult& t : attempt->result.tasks) {
      if (t.id != task) continue;
      const fs::path recording = t.warp_name.empty() ? fs::path() : result_file(lab.name + "/" + t.warp_name);
      if (recording.empty()) return out;
      if (const auto at = attempt->result.submission_files.find(file); at != attempt->result.submission_files.end())
        out["judged"] = at->second;
      for (const auto& access : loop::line_accesses(file_text(recording), file, line))
        out["accesses"].push_back({{"kernel", access.kernel},
                                   {"op", access.op},
                                   {"requests", access.requests},
                                   {"took", access.took},
                                   {"ideal", access.ideal},
                                   {"svg", access.svg}});
      return out;
    }
  }
  return out;
}

}  // namespace ridge::serve
