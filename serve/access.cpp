#include "serve/access.hpp"

#include <sodium.h>

#include <algorithm>

namespace ridge::serve {

bool same_token(std::string_view a, std::string_view b) {
  return a.size() == b.size() && !a.empty() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

bool is_own_host(std::string_view host, const Hosts& portals) {
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos) {
    const std::string_view port = host.substr(colon + 1);
    if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string_view::npos) return false;
    host = host.substr(0, colon);
  }
  return host == "127.0.0.1" || host == "localhost" || host == "[::1]" ||
         std::find(portals.begin(), portals.end(), host) != portals.end();
}

namespace {

bool changes_something(const std::string& method) { return method != "GET" && method != "HEAD"; }

// A page's origin is the host that its request names. Behind a portal, which may name the server itself as the host, it
// is the portal.
bool is_own_origin(const std::string& origin, const std::string& host, const Hosts& portals) {
  for (const std::string_view scheme : {"http://", "https://"})
    if (origin.starts_with(scheme)) {
      const std::string_view from = std::string_view(origin).substr(scheme.size());
      const std::string_view name = from.substr(0, from.find(':'));
      if (from == host || std::find(portals.begin(), portals.end(), name) != portals.end()) return true;
    }
  return false;
}

bool from_elsewhere(const Asked& a, const Hosts& portals) {
  if (!a.origin.empty() && !is_own_origin(a.origin, a.host, portals)) return true;
  if (a.fetch_site.empty() || a.fetch_site == "same-origin" || a.fetch_site == "none") return false;
  // A link on another page may lead here; that page learns nothing of the answer.
  return a.fetch_mode != "navigate" || changes_something(a.method);
}

}  // namespace

Admission admit(const Asked& a, std::string_view token, const Hosts& portals) {
  if (!is_own_host(a.host, portals))
    return {
        403,
        {},
        "This server answers to 127.0.0.1, localhost and the names after --host. The request names another host.\n"};
  if (from_elsewhere(a, portals)) return {403, {}, "The request comes from another site's page.\n"};
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
