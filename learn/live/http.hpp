// A small HTTP client (RFC 9112) for students' machines, which then need no further package. Boost.Beast is the
// servers' alone, since it takes long to compile.
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
  int code = 0;  // 0: the answer is not HTTP
  std::string body;
};

// Makes one request on a connection of its own. `headers` are names and values; at most `most` bytes of the answer are
// read. Each step may take 5 seconds. Throws an environment error that says what went wrong.
Answer http(const Url& url, const std::string& method, const std::string& path,
            const std::vector<std::pair<std::string, std::string>>& headers, const std::string& body, std::size_t most);

}  // namespace ridge::loop
