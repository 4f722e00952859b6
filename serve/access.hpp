// Who may ask the server. It listens on 127.0.0.1, where every user and every web page of the machine can reach it, so
// each request must name the token, and must come from a page of the server itself.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ridge::serve {

// What access depends on. Headers that a request lacks are empty.
struct Asked {
  std::string method, path;  // the decoded path, "/TOKEN/api/labs"
  std::string host, origin, fetch_site, fetch_mode, content_type;
};

struct Admission {
  int status = 200;  // 307: the address lacks its last slash
  std::string rest;  // the path behind the token, without a slash in front
  std::string why;   // for the reader, where the request is refused
};

// Hosts that the server answers to beside the loopback's: those of portals that pass requests on. Pages of theirs, at any
// port, count as the server's own.
using Hosts = std::vector<std::string>;

Admission admit(const Asked& asked, std::string_view token, const Hosts& portals = {});

// True for the names of this machine's loopback, and for those of `portals`, with any port: `ssh -L` may end at another
// one. A name that somebody points at 127.0.0.1 (DNS rebinding) is refused.
bool is_own_host(std::string_view host, const Hosts& portals = {});

// Takes as long for a wrong token as for the right one.
bool same_token(std::string_view a, std::string_view b);

}  // namespace ridge::serve
