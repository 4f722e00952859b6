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

// A portal that passes requests on, as its pages name themselves: "https://ondemand.example.edu", or with a port that is
// not the scheme's own. Pages of this origin count as the server's own, and the server answers to the origin's host.
struct Portal {
  std::string origin, host;
};
using Portals = std::vector<Portal>;

// Reads "ondemand.example.edu" (its pages come by https), "http://ondemand.example.edu:8080", and so on. Throws Error
// for anything else.
Portal read_portal(const std::string& text);

Admission admit(const Asked& asked, std::string_view token, const Portals& portals = {});

// Of a request that needs no token: status 200, or why it is refused.
Admission admit_anybody(const Asked& asked, const Portals& portals = {});

// True for the names of this machine's loopback, and for those of `portals`, with any port: `ssh -L` may end at another
// one. A name that somebody points at 127.0.0.1 (DNS rebinding) is refused.
bool is_own_host(std::string_view host, const Portals& portals = {});

// Takes as long for a wrong token as for the right one.
bool same_token(std::string_view a, std::string_view b);

}  // namespace ridge::serve
