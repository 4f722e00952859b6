#include "serve/entrance.hpp"

#include <utility>

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

net::Judged judge_entry(const Request& in, const std::string& token, const Hosts& portals) {
  const Admission a = admit(asked_by(in), token, portals);
  if (a.status == 200) return {std::nullopt, true};
  Response out;
  out.status = a.status, out.body = a.why;
  if (a.status == 307) out.fields = {{"Location", in.path.substr(1) + "/"}};
  return {std::move(out), false};
}

std::string behind_token(const Request& in, const std::string& token, const Hosts& portals) {
  return admit(asked_by(in), token, portals).rest;
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
