#include "local.hpp"

#include <cerrno>
#include <mutex>
#include <vector>

#include "client.hpp"

namespace ridge::files {

namespace {
Service* service = nullptr;
std::recursive_mutex turns;
std::vector<std::byte>& window() {
  static std::vector<std::byte> bytes(kMostBytes);
  return bytes;
}
}  // namespace

void use(Service* new_service) { service = new_service; }

}  // namespace ridge::files

using namespace ridge::files;

extern "C" char* ridge_files_window() { return reinterpret_cast<char*>(window().data()); }
extern "C" void ridge_files_call(const Request* request, Reply* reply) {
  Request r = *request;
  r.rank = playing();
  if (service != nullptr)
    *reply = service->call(r, window());
  else
    reply->result = -ENOSYS;
}
extern "C" bool ridge_files_in_place() { return false; }
extern "C" unsigned long long ridge_files_work(int, Work, const void*, void*, std::size_t, long long) { return 0; }
extern "C" void ridge_files_wait(unsigned long long) {}
extern "C" void ridge_files_lock(bool on) { on ? turns.lock() : turns.unlock(); }
