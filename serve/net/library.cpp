// Boost.Asio's and Beast's functions, compiled once.
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
