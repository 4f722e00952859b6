#include "learn/live/kick.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "formats/json_fields.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "learn/live/http.hpp"

namespace ridge::loop {

void kick_live(const fs::path& board, const std::string& name, bool back) {
  std::string head;
  std::ifstream in(board);
  std::getline(in, head);
  const nlohmann::json keys = nlohmann::json::parse(head, nullptr, false);
  const std::string address = file_text(board.string() + ".lock");
  if (!keys.is_object() || address.empty())
    throw Error(Exit::usage, fmt::format("no `ridge live` keeps its board in {}", shown(board)),
                "start it first, or name its file with --board");
  const nlohmann::json body = {{"name", name}, {"back", back}};
  const Answer answer = http(parse_url(address), "POST", "/api/kick", {{"X-Ridge-Host", text_at(keys, "host_key")}},
                             body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), 4096);
  if (answer.code == 404)
    throw Error(Exit::usage,
                fmt::format("nobody {} is called '{}'", back ? "off the board" : "on the board", printable(name)),
                "write the name as the board shows it");
  if (answer.code != 200)
    throw Error(Exit::environment, fmt::format("{} did not do it: {}", address, answer.code),
                "is the board that is running there the one of this file?");
  fmt::print("{} is {} the board.\n", printable(name), back ? "back on" : "off");
}

}  // namespace ridge::loop
