// How a page recognises its server. Where a server or a tunnel has ended, another program may listen at its port, and a
// request there would tell that program the token. The server therefore gives the page a question with its answer over
// each connection that it vouches for. Before the page connects again, it asks that question without the token.
#pragma once
#include <string>

namespace ridge::serve {

constexpr const char* kProvePath = "/prove";  // GET /prove?question=...

struct Question {
  std::string question, answer;
};

Question new_question(const std::string& token);

// What only a server with this token can compute: a keyed hash (HMAC-SHA-512-256) of the question. Empty where the
// question is none of new_question.
std::string answer_to(const std::string& question, const std::string& token);

}  // namespace ridge::serve
