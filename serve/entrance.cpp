#include "serve/entrance.hpp"

#include <utility>

#include "serve/proof.hpp"

namespace ridge::serve {

using net::Request;
using net::Response;

namespace {

Asked asked_by(const Request& in) {
  return {in.method,
          in.path,
          in.header("Host"),
          in.header("Origin"),
          in.header("Sec-Fetch-Site"),
          in.header("Sec-Fetch-Mode"),
          in.header("Content-Type")};
}

}  // namespace

net::Judged judge_entry(const Request& in, const std::string& token, const Portals& portals) {
  const bool proves = in.path == kProvePath && in.method == "GET";
  const Admission a = proves ? admit_anybody(asked_by(in), portals) : admit(asked_by(in), token, portals);
  if (a.status == 200 && !proves) return {std::nullopt, true};
  if (a.status == 200) {
    const std::string answer = answer_to(in.parameter("question"), token);
    return {answer.empty() ? problem(400, "a question has 32 hexadecimal digits") : json_response({{"answer", answer}}),
            false};
  }
  Response out;
  out.status = a.status, out.body = a.why;
  if (a.status == 307) out.fields = {{"Location", in.path.substr(1) + "/"}};
  return {std::move(out), false};
}

std::string behind_token(const Request& in, const std::string& token, const Portals& portals) {
  return admit(asked_by(in), token, portals).rest;
}

nlohmann::json proof_json(const std::string& token) {
  const Question q = new_question(token);
  return {{"question", q.question}, {"answer", q.answer}};
}

net::Fields page_fields() {
  return {{"Content-Security-Policy",
           "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
           "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"X-Accel-Buffering", "no"},  // nginx passes events on as they come
          {"Cache-Control", "no-store"}};
}

Response json_response(const nlohmann::json& data, int status) {
  Response out;
  out.status = status, out.type = "application/json";
  out.body = data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return out;
}

Response problem(int status, const std::string& why) { return json_response({{"problem", why}}, status); }

Response file_response(std::string text, const char* type) {
  Response out;
  out.body = std::move(text), out.type = type;
  return out;
}

}  // namespace ridge::serve
