#include "serve/access.hpp"

#include <sodium.h>

#include <algorithm>

namespace ridge::serve {

bool same_token(std::string_view a, std::string_view b) {
  return a.size() == b.size() && !a.empty() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

bool is_loopback(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos) {
    const std::string_view port = host.substr(colon + 1);
    if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string_view::npos) return false;
    host = host.substr(0, colon);
  }
  return host == "127.0.0.1" || host == "localhost" || host == "[::1]";
}

namespace {

bool changes_something(const std::string& method) { return method != "GET" && method != "HEAD"; }

bool from_elsewhere(const Asked& a) {
  if (!a.origin.empty() && a.origin != "http://" + a.host && a.origin != "https://" + a.host) return true;
  if (a.fetch_site.empty() || a.fetch_site == "same-origin" || a.fetch_site == "none") return false;
  // A link on another page may lead here; that page learns nothing of the answer.
  return a.fetch_mode != "navigate" || changes_something(a.method);
}

}  // namespace

Admission admit(const Asked& a, std::string_view token) {
  if (!is_loopback(a.host))
    return {403, {}, "This server answers to 127.0.0.1 and localhost alone, and the request names another host.\n"};
  if (from_elsewhere(a)) return {403, {}, "The request comes from another site's page.\n"};
  if (a.path.empty() || a.path[0] != '/') return {400, {}, "The address has no path.\n"};
  const std::size_t end = std::min(a.path.find('/', 1), a.path.size());
  if (!same_token(std::string_view(a.path).substr(1, end - 1), token))
    return {403, {}, "The address lacks its token. Copy the whole address that `ridge serve` has printed.\n"};
  // A form of another site cannot send this type without asking first.
  const bool json = a.content_type == "application/json" || a.content_type.rfind("application/json;", 0) == 0;
  if (changes_something(a.method) && !json) return {415, {}, "Changes are sent as application/json.\n"};
  if (end == a.path.size()) return {307, {}, {}};
  return {200, a.path.substr(end + 1), {}};
}

}  // namespace ridge::serve
