// Who may ask the server, and what its addresses are looked up in.
#include <fstream>

#include "grader/base/error.hpp"
#include "serve/access.hpp"
#include "serve/page_files.hpp"
#include "serve/proof.hpp"
#include "serve/token.hpp"
#include "support/catch.hpp"

using namespace ridge;
using namespace ridge::serve;

namespace {

const std::string kToken = "0123456789abcdef0123456789abcdef";

Asked page(const std::string& path) { return {"GET", path, "127.0.0.1:8765", "", "", "", ""}; }

Asked save(const std::string& type) {
  return {"PUT", "/" + kToken + "/api/x", "127.0.0.1:8765", "http://127.0.0.1:8765", "same-origin", "cors", type};
}

}  // namespace

TEST_CASE("the token opens the page, and nothing else does") {
  CHECK(admit(page("/" + kToken + "/"), kToken).status == 200);
  CHECK(admit(page("/" + kToken + "/api/labs"), kToken).rest == "api/labs");
  CHECK(admit(page("/" + kToken), kToken).status == 307);
  for (const char* path : {"/", "//", "/api/labs", "/0123/api/labs", "/0123456789abcdef0123456789abcdeF/"})
    CHECK(admit(page(path), kToken).status == 403);
  CHECK(admit(page("/" + kToken + "0/"), kToken).status == 403);
  CHECK(admit(page(""), kToken).status == 400);
  CHECK(admit(page("/"), "").status == 403);  // an empty token opens nothing
}

TEST_CASE("only the loopback's names are hosts") {
  for (const char* host : {"127.0.0.1", "127.0.0.1:8765", "localhost:9000", "[::1]:8765", "[::1]"})
    CHECK(is_own_host(host));
  for (const char* host : {"", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80",
                           "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:123456", "0.0.0.0:8765", "127.0.0.1:80:80", "::1"})
    CHECK_FALSE(is_own_host(host));
  Asked rebound = page("/" + kToken + "/");
  rebound.host = "evil.example:8765";
  CHECK(admit(rebound, kToken).status == 403);
}

TEST_CASE("a page of another site changes nothing, and reads nothing") {
  CHECK(admit(save("application/json"), kToken).status == 200);
  for (const char* origin : {"http://evil.example", "null", "http://127.0.0.1:9999", "http://localhost:8765"}) {
    Asked other = save("application/json");
    other.origin = origin;
    CHECK(admit(other, kToken).status == 403);
  }
  Asked script = page("/" + kToken + "/api/labs");
  script.fetch_site = "cross-site", script.fetch_mode = "no-cors";
  CHECK(admit(script, kToken).status == 403);
  script.fetch_mode = "navigate";  // a link from a portal may lead here
  CHECK(admit(script, kToken).status == 200);
  script.method = "POST";
  CHECK(admit(script, kToken).status == 403);
}

TEST_CASE("a portal is an origin: scheme, host and port") {
  for (const auto& [text, origin] :
       std::vector<std::pair<std::string, std::string>>{{"ondemand.example.edu", "https://ondemand.example.edu"},
                                                        {"OnDemand.example.edu/", "https://ondemand.example.edu"},
                                                        {"ondemand.example.edu:443", "https://ondemand.example.edu"},
                                                        {"ondemand.example.edu:80", "https://ondemand.example.edu:80"},
                                                        {"http://hub.example.edu:80", "http://hub.example.edu"},
                                                        {"http://hub.example.edu:8000", "http://hub.example.edu:8000"},
                                                        {"https://[2001:db8::1]:8443", "https://[2001:db8::1]:8443"}}) {
    CHECK(read_portal(text).origin == origin);
    CHECK(is_own_host(origin.substr(origin.find("//") + 2), {read_portal(text)}));
  }
  for (const char* text : {"", "http://", "ftp://example.edu", "example.edu/path", "example.edu:", "example.edu:x",
                           "a b", "https://user@example.edu", "*"})
    CHECK_THROWS_AS(read_portal(text), Error);
}

TEST_CASE("a portal's pages are the server's own, whichever host the portal names") {
  const Portals portals = {read_portal("ondemand.example.edu")};
  for (const char* host : {"ondemand.example.edu", "127.0.0.1:8765"}) {
    Asked through = save("application/json");
    through.host = host, through.origin = "https://ondemand.example.edu";
    CHECK(admit(through, kToken, portals).status == 200);
    CHECK(admit(through, kToken).status == 403);
    for (const char* origin :
         {"https://evil.example", "https://ondemand.example.edu.evil.example", "ondemand.example.edu",
          "http://ondemand.example.edu", "https://ondemand.example.edu:8443", "http://ondemand.example.edu:9999"}) {
      through.origin = origin;
      CHECK(admit(through, kToken, portals).status == 403);
    }
  }
  Asked other = save("application/json");  // a page of another port of the portal's host, sent to that port
  other.host = "ondemand.example.edu:9999", other.origin = "https://ondemand.example.edu:9999";
  CHECK(admit(other, kToken, portals).status == 403);
  const Portals hub = {read_portal("http://127.0.0.1:8000")};
  Asked local = save("application/json");  // a hub of this machine closes nobody's own way out
  CHECK(admit(local, kToken, hub).status == 200);
  local.origin = "http://127.0.0.1:8000";
  CHECK(admit(local, kToken, hub).status == 200);
  local.origin = "http://127.0.0.1:8001";
  CHECK(admit(local, kToken, hub).status == 403);
}

TEST_CASE("only who knows the token answers a question") {
  const Question q = new_question(kToken), other = new_question(kToken);
  CHECK(q.question != other.question);
  CHECK(q.answer.size() == 64);
  CHECK(q.answer != other.answer);
  CHECK(answer_to(q.question, kToken) == q.answer);
  CHECK(answer_to(q.question, "0" + kToken.substr(1)) == q.answer);  // the same token
  CHECK(answer_to(q.question, "1" + kToken.substr(1)) != q.answer);
  for (const std::string& none : {std::string(), kToken + "0", std::string(31, '0') + "g", std::string(32, 'A')})
    CHECK(answer_to(none, kToken).empty());
}

TEST_CASE("changes come as JSON, which a form of another site cannot send") {
  CHECK(admit(save("application/json; charset=utf-8"), kToken).status == 200);
  for (const char* type : {"", "text/plain", "application/x-www-form-urlencoded", "application/jsonx"})
    CHECK(admit(save(type), kToken).status == 415);
}

TEST_CASE("each server has a token of its own") {
  const std::string token = new_token();
  CHECK(token.size() == 32);
  CHECK(token.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(new_token() != token);
}

TEST_CASE("the page's files are looked up by name, and other kinds are left out") {
  const TemporaryDir dir("serve");
  fs::create_directories(dir.path() / "codemirror");
  std::ofstream(dir.path() / "index.html") << "<!doctype html>";
  std::ofstream(dir.path() / "codemirror" / "x.js") << "1";
  std::ofstream(dir.path() / "notes.txt") << "2";
  const auto files = load_page_files(dir.path());
  REQUIRE(files.size() == 2);
  CHECK(files.at("codemirror/x.js").text == "1");
  CHECK(std::string(files.at("index.html").type) == "text/html; charset=utf-8");
}
