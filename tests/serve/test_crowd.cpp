// Who has to go where too many clients are connected.
#include "serve/net/crowd.hpp"
#include "serve/net/message.hpp"
#include "support/catch.hpp"

using ridge::net::Crowd;

TEST_CASE("of too many, the oldest stranger goes, and no known client") {
  Crowd crowd(3, 0);
  for (Crowd::Id id : {1, 2, 3}) CHECK_FALSE(crowd.add(id, "a"));
  crowd.is_known(1);
  CHECK(crowd.add(4, "a") == Crowd::Id{2});
  crowd.remove(2);
  CHECK(crowd.add(5, "a") == Crowd::Id{3});
}

TEST_CASE("the address with the most strangers gives one up") {
  Crowd crowd(4, 0);
  crowd.add(1, "quiet");
  for (Crowd::Id id : {2, 3, 4}) crowd.add(id, "loud");
  CHECK(crowd.add(5, "other") == Crowd::Id{2});
}

TEST_CASE("a stranger that is being answered goes after an idle one") {
  Crowd crowd(3, 0);
  for (Crowd::Id id : {1, 2, 3}) crowd.add(id, "a");
  crowd.is_busy(1, true);
  CHECK(crowd.add(4, "a") == Crowd::Id{2});
}

TEST_CASE("an address has only so many strangers") {
  Crowd crowd(100, 2);
  CHECK_FALSE(crowd.add(1, "a"));
  CHECK_FALSE(crowd.add(2, "a"));
  CHECK_FALSE(crowd.add(3, "b"));
  CHECK(crowd.add(4, "a") == Crowd::Id{1});
}

TEST_CASE("where all are known, the one that was idle longest goes, and of busy ones none") {
  Crowd crowd(3, 0);
  for (Crowd::Id id : {1, 2, 3}) crowd.add(id, "a"), crowd.is_known(id);
  crowd.is_busy(1, true);
  crowd.is_busy(2, true), crowd.is_busy(2, false);
  CHECK(crowd.add(4, "a") == Crowd::Id{3});
  crowd.remove(3), crowd.remove(4);
  crowd.add(5, "a"), crowd.is_known(5);
  crowd.is_busy(2, true), crowd.is_busy(5, true);
  CHECK(crowd.add(6, "a") == Crowd::Id{6});  // the new one
}

TEST_CASE("a newcomer does not go while there is another stranger, whichever source sorts first") {
  Crowd crowd(3, 0);
  crowd.add(1, "b"), crowd.add(2, "c"), crowd.add(3, "d");
  CHECK(crowd.add(4, "a") == Crowd::Id{1});
  crowd.remove(1);
  for (Crowd::Id id : {2, 3}) crowd.is_known(id);
  CHECK(crowd.add(5, "a") == Crowd::Id{4});
}

TEST_CASE("other users of the machine displace nobody but each other") {
  Crowd crowd(4, 0, 2);
  crowd.add(1, "loopback");
  CHECK_FALSE(crowd.add(2, "loopback", true));
  CHECK_FALSE(crowd.add(3, "loopback", true));
  CHECK(crowd.add(4, "loopback", true) == Crowd::Id{2});
  crowd.remove(2);
  CHECK_FALSE(crowd.add(5, "loopback"));
  CHECK(crowd.add(6, "loopback") == Crowd::Id{3});
  crowd.remove(3);
  crowd.is_known(4);
  CHECK(crowd.add(7, "loopback", true) == Crowd::Id{7});  // one of the server's own user waits, too
}

TEST_CASE("addresses that one user may choose among are one source") {
  using ridge::net::source_of;
  CHECK(source_of("127.0.0.1") == source_of("127.3.2.1"));
  CHECK(source_of("127.0.0.1") == source_of("::ffff:127.0.0.9"));
  CHECK(source_of("10.0.0.1") != source_of("10.0.0.2"));
  CHECK(source_of("2001:db8::1") == source_of("2001:db8::ffff:0:1"));
  CHECK(source_of("2001:db8::1") != source_of("2001:db8:0:1::1"));
}

TEST_CASE("headers are found in any case, and a query is decoded") {
  ridge::net::Request r;
  r.fields = {{"X-Token", "1"}};
  r.query = "a=b&file=01_x%2Fy.json&end";
  CHECK(r.header("x-tOKEN") == "1");
  CHECK(r.header("x-toke").empty());
  CHECK(r.parameter("file") == "01_x/y.json");
  CHECK(r.parameter("end").empty());
  CHECK_FALSE(ridge::net::decoded("%2"));
  CHECK_FALSE(ridge::net::decoded("%zz"));
  CHECK(ridge::net::decoded("a%20b") == "a b");
}
