// A small HTTP client (RFC 9112), so that laptops need no library to talk to `ridge live`.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace ridge::loop {

struct Url {
  std::string host, port = "80";
};

// http://HOST[:PORT][/...], with or without the scheme; throws a usage error.
Url parse_url(const std::string& url);

struct Answer {
  int code = 0;  // 0: what answered does not speak HTTP
  std::string body;
};

// One request on a connection of its own. `headers`: name and value; `most`: bytes of the answer that are read. Throws
// an environment error that says what went wrong. Each step may take 5 seconds.
Answer http(const Url& url, const std::string& method, const std::string& path,
            const std::vector<std::pair<std::string, std::string>>& headers, const std::string& body, std::size_t most);

}  // namespace ridge::loop
