#include "serve/access.hpp"

#include <sodium.h>

#include <algorithm>
#include <cctype>

#include "grader/base/error.hpp"

namespace ridge::serve {

bool same_token(std::string_view a, std::string_view b) {
  return a.size() == b.size() && !a.empty() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

namespace {

struct HostPort {
  std::string_view name, port;  // no port: empty
  bool valid = true;
};

HostPort split(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  if (colon == std::string_view::npos || host.find(']', colon) != std::string_view::npos) return {host, {}};
  const std::string_view port = host.substr(colon + 1);
  return {host.substr(0, colon), port,
          !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string_view::npos};
}

bool is_host_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c < 128 && (std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == '[' || c == ']' || c == ':');
  });
}

bool is_loopback(std::string_view name) { return name == "127.0.0.1" || name == "localhost" || name == "[::1]"; }

bool is_portal(std::string_view name, const Portals& portals) {
  return std::any_of(portals.begin(), portals.end(), [&](const Portal& p) { return p.host == name; });
}

}  // namespace

Portal read_portal(const std::string& text) {
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const std::size_t mark = lower.find("://");
  const std::string scheme = mark == std::string::npos ? "https" : lower.substr(0, mark);
  std::string rest = mark == std::string::npos ? lower : lower.substr(mark + 3);
  if (rest.ends_with('/')) rest.pop_back();
  const HostPort parts = split(rest);
  if ((scheme != "http" && scheme != "https") || !parts.valid || !is_host_name(parts.name))
    throw Error(Exit::usage, "--host " + text + " names no portal",
                "the address that browsers show, without a path: ondemand.example.edu, or http://127.0.0.1:8000");
  const bool usual = parts.port.empty() || parts.port == (scheme == "https" ? "443" : "80");  // browsers leave it out
  const std::string name(parts.name);
  return {scheme + "://" + name + (usual ? "" : ":" + std::string(parts.port)), name};
}

bool is_own_host(std::string_view host, const Portals& portals) {
  const HostPort parts = split(host);
  return parts.valid && (is_loopback(parts.name) || is_portal(parts.name, portals));
}

namespace {

bool changes_something(const std::string& method) { return method != "GET" && method != "HEAD"; }

// A portal's pages have the origin that --host names, whichever host the portal's request names. All other pages have
// the host of their request as origin.
bool is_own_origin(const std::string& origin, const std::string& host, const Portals& portals) {
  if (std::any_of(portals.begin(), portals.end(), [&](const Portal& p) { return p.origin == origin; })) return true;
  if (const std::string_view name = split(host).name; !is_loopback(name) && is_portal(name, portals)) return false;
  return origin == "http://" + host || origin == "https://" + host;
}

bool from_elsewhere(const Asked& a, const Portals& portals) {
  if (!a.origin.empty() && !is_own_origin(a.origin, a.host, portals)) return true;
  if (a.fetch_site.empty() || a.fetch_site == "same-origin" || a.fetch_site == "none") return false;
  // A link on another page may lead here; that page learns nothing of the answer.
  return a.fetch_mode != "navigate" || changes_something(a.method);
}

}  // namespace

Admission admit_anybody(const Asked& a, const Portals& portals) {
  if (!is_own_host(a.host, portals))
    return {
        403,
        {},
        "This server answers to 127.0.0.1, localhost and the names after --host. The request names another host.\n"};
  if (from_elsewhere(a, portals)) return {403, {}, "The request comes from another site's page.\n"};
  return {};
}

Admission admit(const Asked& a, std::string_view token, const Portals& portals) {
  if (Admission any = admit_anybody(a, portals); any.status != 200) return any;
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
