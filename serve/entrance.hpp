// What all pages of this server share: who may enter, the headers of each response, and responses in their usual forms.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "serve/access.hpp"
#include "serve/net/message.hpp"

namespace ridge::serve {

// By admit, from the request's headers. It answers kProvePath, which needs no token.
net::Judged judge_entry(const net::Request& in, const std::string& token, const Portals& portals);
// The path behind the token, of a request that was let in.
std::string behind_token(const net::Request& in, const std::string& token, const Portals& portals);

// {"question", "answer"}: by it, a page that this server vouches for recognises the server later (proof.hpp).
nlohmann::json proof_json(const std::string& token);

// Of every response: no script but the page's own, and nothing from elsewhere.
net::Fields page_fields();

net::Response json_response(const nlohmann::json& data, int status = 200);
net::Response problem(int status, const std::string& why);  // {"problem": why}
net::Response file_response(std::string text, const char* type);

}  // namespace ridge::serve
