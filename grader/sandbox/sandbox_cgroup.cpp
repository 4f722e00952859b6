#include "grader/sandbox/sandbox_cgroup.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>
#include <sstream>

#include "grader/base/paths.hpp"

namespace ridge {

namespace {

std::mutex groups_mutex;
std::set<std::string> made_groups;  // that this program made and did not remove yet

bool put(const std::string& file, const std::string& text) {
  int fd = open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool ok = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(fd);
  return ok;
}

std::string get(const std::string& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Whoever made the group that we are in also governs what lies beneath it, unless it was handed over: the root of a
// hierarchy (a container's own), a group that an ordinary user may write, or one that systemd delegated. (systemd,
// "Control Group APIs and Delegation".) RIDGE_CGROUP names a group that ridge may use.
bool ours(const std::string& folder, const std::string& own_path) {
  if (access((folder + "/cgroup.procs").c_str(), W_OK) != 0) return false;
  if (own_path == "/" || geteuid() != 0) return true;
  char mark[2] = {};
  return getxattr(folder.c_str(), "trusted.delegate", mark, 1) == 1 && mark[0] == '1';
}

struct Place {
  std::string parent;
  bool v2 = false, tasks = false, memory = false;
};

// The places where groups can be made, found once.
std::vector<Place> find_places() {
  std::vector<Place> places;
  if (const char* given = std::getenv("RIDGE_CGROUP"); given != nullptr && *given != 0) {
    places.push_back({given, true, true, true});
    return places;
  }
  std::istringstream lines(get("/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    std::string tail = path == "/" ? "" : path;
    if (controllers.empty()) {
      for (std::string mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
        if (access((mount + "/cgroup.controllers").c_str(), R_OK) != 0) continue;
        std::string own = mount + tail;
        if (ours(own, path)) places.push_back({own, true, true, true});
        // A user's session: its group holds processes and can't be split, but the one above is the user's too.
        std::string above = fs::path(own).parent_path();
        if (!tail.empty() && geteuid() != 0 && ours(above, path)) places.push_back({above, true, true, true});
        break;
      }
      continue;
    }
    for (std::istringstream names(controllers); std::getline(names, controllers, ',');) {
      if (controllers != "pids" && controllers != "memory") continue;
      std::string own = "/sys/fs/cgroup/" + controllers + tail;
      if (ours(own, path)) places.push_back({own, false, controllers == "pids", controllers == "memory"});
    }
  }
  return places;
}

const std::vector<Place>& places() {
  static const std::vector<Place> found = [] {
    auto all = find_places();
    for (const auto& p : all) {  // what a killed ridge left; those in use refuse
      std::error_code ec;
      for (const auto& entry : fs::directory_iterator(p.parent, ec)) {
        std::string name = entry.path().filename();
        int pid = name.rfind("ridge-job-", 0) == 0 ? std::atoi(name.c_str() + 10) : 0;
        if (pid > 0 && kill(pid, 0) != 0 && errno == ESRCH) rmdir(entry.path().c_str());
      }
    }
    return all;
  }();
  return found;
}

bool remove(const std::string& folder) {
  for (int i = 0; i < 500; ++i) {
    if (!put(folder + "/cgroup.kill", "1")) {
      std::istringstream pids(get(folder + "/cgroup.procs"));
      for (pid_t pid; pids >> pid;)
        if (pid > 0) kill(pid, SIGKILL);
    }
    if (rmdir(folder.c_str()) == 0 || errno == ENOENT) return true;
    usleep(i < 50 ? 200 : 2000);
  }
  return false;
}

}  // namespace

JobGroup::JobGroup(unsigned tasks, std::uint64_t memory_bytes) {
  static std::atomic<unsigned> number{0};
  for (const Place& place : places()) {
    bool tasks_wanted = place.tasks && !tasks_, memory_wanted = place.memory && !memory_;
    if (!tasks_wanted && !memory_wanted) continue;
    std::string folder = fmt::format("{}/ridge-job-{}-{}", place.parent, getpid(), number++);
    if (mkdir(folder.c_str(), 0755) != 0) continue;
    if (place.v2 && access((folder + "/pids.max").c_str(), F_OK) != 0) {
      put(place.parent + "/cgroup.subtree_control", "+pids");
      put(place.parent + "/cgroup.subtree_control", "+memory");
    }
    bool t = tasks_wanted && put(folder + "/pids.max", std::to_string(tasks));
    std::string bytes = std::to_string(memory_bytes);
    bool m = memory_wanted && put(folder + (place.v2 ? "/memory.max" : "/memory.limit_in_bytes"), bytes);
    int door = t || m ? open((folder + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC) : -1;
    if (door < 0) {
      rmdir(folder.c_str());
      continue;
    }
    if (m && place.v2) put(folder + "/memory.swap.max", "0");
    if (m && !place.v2) put(folder + "/memory.memsw.limit_in_bytes", bytes);
    tasks_ = tasks_ || t;
    memory_ = memory_ || m;
    doors_.push_back(door);
    folders_.push_back(folder);
    std::lock_guard lock(groups_mutex);
    made_groups.insert(folder);
  }
}

JobGroup::~JobGroup() { end(); }

bool JobGroup::join() const {
  for (int door : doors_)
    if (write(door, "0", 1) < 0) return false;
  return true;
}

bool JobGroup::end() {
  for (int door : doors_) close(door);
  doors_.clear();
  bool all = true;
  for (const auto& folder : folders_) {
    bool gone = remove(folder);
    all = all && gone;
    std::lock_guard lock(groups_mutex);
    if (gone) made_groups.erase(folder);
  }
  folders_.clear();
  return all;
}

SandboxGroups sandbox_groups() {
  JobGroup probe(16, 1 << 30);
  return {probe.limits_tasks(), probe.limits_memory()};
}

void remove_job_groups() {
  groups_mutex.lock();  // for good: the program ends here
  for (const auto& folder : made_groups) remove(folder);
}

}  // namespace ridge
