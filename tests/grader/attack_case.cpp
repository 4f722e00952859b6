#include "attack_case.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <toml++/toml.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>

#include "support/run.hpp"

namespace ridge::test {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

std::string from_environment(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != 0 ? value : otherwise;
}

fs::path root() { return from_environment("RIDGE_ROOT", repository()); }

// The judge whose defences can be switched off.
std::string program() { return from_environment("RIDGE_SWITCHABLE", (root() / "build/bin/ridge-switchable").string()); }

std::vector<std::string> strings(const toml::table& t, const char* key) {
  std::vector<std::string> all;
  if (const toml::array* a = t[key].as_array())
    for (const auto& v : *a) all.push_back(v.value_or(std::string()));
  return all;
}

std::string text(const toml::table& t, const std::string& where, const char* key, const char* otherwise = nullptr) {
  auto value = t[key].value<std::string>();
  if (!value && otherwise == nullptr) throw std::runtime_error(where + ": no '" + key + "'");
  return value ? *value : otherwise;
}

Attack load(const fs::path& dir) {
  toml::table t = toml::parse_file((dir / "attack.toml").string());
  Attack a;
  a.dir = dir;
  a.name = dir.filename().string();
  a.class_id = text(t, a.name, "class");
  a.tries = text(t, a.name, "tries");
  a.lab = text(t, a.name, "lab", "01_coalescing");
  a.task = text(t, a.name, "task", "copy");
  a.file = text(t, a.name, "file", "copy.cu");
  a.mode = text(t, a.name, "mode", "check");
  a.backend = text(t, a.name, "backend", "cpu");
  a.success = text(t, a.name, "success", "marks");
  a.arguments = strings(t, "arguments");
  a.fails = strings(t, "fails");
  a.defences = strings(t, "defences");
  a.twin = text(t, a.name, "twin", "");
  a.limit = t["limit"].value_or(90.0);
  a.quick = t["quick"].value_or(false);
  if (a.fails.empty()) throw std::runtime_error(a.name + ": 'fails' names no check");
  const bool own = fs::exists(dir / "honest.cu");
  if (own != a.twin.empty() || (!own && a.twin != "solution" && !fs::exists(dir.parent_path() / a.twin / "honest.cu")))
    throw std::runtime_error(a.name + ": needs one honest twin, in honest.cu or by 'twin'");
  if (a.defences.empty()) throw std::runtime_error(a.name + ": 'defences' is empty");
  return a;
}

// What an attack may use in its files as @NAME@, new for every run.
struct Place {
  Folder home;
  std::string marker;  // 12 letters that nothing else holds
  std::string outside() const { return home / "outside"; }
  std::string secret() const { return home / "private/secret.txt"; }

  Place() {
    std::random_device random;
    for (int i = 0; i < 12; ++i) marker += static_cast<char>('a' + random() % 26);
    fs::create_directories(outside());
    fs::create_directories(home / "private");
    fs::create_directories(home / "tmp");
    // What this machine's GPU can do, beside the results: measured once.
    if (std::string known = from_environment("RIDGE_ATTACK_CALIBRATION", ""); !known.empty())
      fs::copy(known, home / "calibration", fs::copy_options::recursive);
    chmod(home.path.c_str(), 0755);  // as in a shared folder: what keeps it apart must be the sandbox
    chmod(outside().c_str(), 0777);
    write_file(secret(), "root_of_all " + marker + " end\n");
    // A batch system for who can call one.
    write_file(home / "bin/sbatch", "#!/bin/sh\necho called > " + outside() + "/loot\n");
    chmod((home / "bin/sbatch").c_str(), 0755);
  }

  std::string filled(std::string s) const {
    const std::pair<std::string, std::string> all[] = {{"@MARKER@", marker},
                                                       {"@SECRET@", secret()},
                                                       {"@OUTSIDE@", outside()},
                                                       {"@ROOT@", root().string()},
                                                       {"@SBATCH@", home / "bin/sbatch"}};
    for (const auto& [name, value] : all)
      for (std::size_t at = 0; (at = s.find(name, at)) != std::string::npos; at += value.size())
        s.replace(at, name.size(), value);
    return s;
  }

  std::map<std::string, std::string> environment(const std::set<std::string>& off) const {
    std::string names;
    for (const auto& d : off) names += (names.empty() ? "" : ",") + d;
    return {{"RIDGE_ROOT", root().string()},
            {"RIDGE_RESULTS", home / "results"},
            {"RIDGE_WORK", home / "work"},
            {"TMPDIR", home / "tmp"},
            {"NO_COLOR", "1"},
            {"RIDGE_TOKEN", "token_" + marker},  // a judge's environment has secrets
            {"PATH", home / "bin:" + from_environment("PATH", "/usr/bin:/bin")},
            {"RIDGE_DEFENCES_OFF", names}};
  }
};

fs::path solution_of(const std::string& lab) {
  for (const fs::path& dir : {root() / "solutions" / lab, root() / "tests/grader/solutions" / lab})
    if (fs::exists(dir)) return dir;
  throw std::runtime_error("no solution of lab " + lab);
}

// attack.cu or honest.cu in the place of the lab's file, further files of the same side under their own names:
// "attack.helper.hpp" becomes helper.hpp.
void stage(const Attack& a, Side side, const Place& place, const std::string& submission) {
  fs::copy(solution_of(a.lab), submission, fs::copy_options::recursive);
  const std::string prefix = side == Side::attack ? "attack." : "honest.";
  for (const auto& entry : fs::directory_iterator(a.dir)) {
    std::string name = entry.path().filename().string();
    if (name.rfind(prefix, 0) != 0 || name == "attack.toml" || entry.path().extension() == ".sh") continue;
    std::string as = name == prefix + "cu" ? a.file : name.substr(prefix.size());
    fs::remove(submission + "/" + as);
    write_file(submission + "/" + as, place.filled(read_file(entry.path().string())));
  }
  if (side == Side::honest && !a.twin.empty() && a.twin != "solution")
    write_file(submission + "/" + a.file,
               place.filled(read_file((a.dir.parent_path() / a.twin / "honest.cu").string())));
}

std::vector<pid_t> processes_called(const std::string& comm) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::string is = read_file(entry.path() / "comm");
    if (is.substr(0, is.find('\n')) == comm) found.push_back(std::stoi(name));
  }
  return found;
}

// What the attacker wanted:
//   marks      exit code 0 and full points
//   text:T     T appears in what the judge printed or wrote
//   file       @OUTSIDE@/loot exists
//   survivor   a process that calls itself @MARKER@ lives on
//   hang       the judge did not come to an end, or not before the memory was used up
//   exit:N     the judge's exit code
bool succeeded(const Attack& a, const Place& place, const Outcome& o, const std::string& everything) {
  if (a.success == "marks") return o.full_marks;
  if (a.success.rfind("text:", 0) == 0) return everything.find(place.filled(a.success.substr(5))) != std::string::npos;
  if (a.success.rfind("longer:", 0) == 0) return everything.size() > std::stoull(a.success.substr(7));
  if (a.success == "file") return fs::exists(place.outside() + "/loot");
  // Without limits the machine's memory may end first: then the kernel kills the compiler. With them it hears no and says so.
  auto says = [&](const char* words) { return everything.find(words) != std::string::npos; };
  if (a.success == "hang")
    return o.code == -1 || (says("the compiler died of signal 9") && !says("LLVM ERROR: out of memory"));
  if (a.success.rfind("exit:", 0) == 0) return o.code == std::stoi(a.success.substr(5));
  if (a.success == "survivor") {
    std::vector<pid_t> left = processes_called(place.marker);
    for (pid_t p : left) kill(p, SIGKILL);
    return !left.empty();
  }
  throw std::runtime_error(a.name + ": no such success: " + a.success);
}

std::string first_failed_check(const json& result) {
  for (const auto& t : result["tasks"])
    for (const auto& c : t["checks"])
      if (c["status"] == "failed") return t["id"].get<std::string>() + "/" + c["name"].get<std::string>();
  return {};
}

}  // namespace

std::vector<Attack> load_attacks() {
  std::vector<Attack> all;
  for (const auto& entry : fs::directory_iterator(root() / "tests/grader/attacks"))
    if (fs::exists(entry.path() / "attack.toml")) all.push_back(load(entry.path()));
  std::sort(all.begin(), all.end(), [](const Attack& a, const Attack& b) { return a.name < b.name; });
  const std::string wanted = from_environment("RIDGE_ATTACK", "");
  if (wanted.empty()) return all;
  std::vector<Attack> some;
  for (std::size_t at = 0; at <= wanted.size();) {
    const std::size_t end = std::min(wanted.find(',', at), wanted.size());
    const std::string head = wanted.substr(at, end - at);
    for (const auto& a : all)
      if (a.name.rfind(head, 0) == 0 &&
          std::none_of(some.begin(), some.end(), [&](const Attack& b) { return b.name == a.name; }))
        some.push_back(a);
    at = end + 1;
  }
  return some;
}

Outcome run_attack(const Attack& a, Side side, const std::set<std::string>& off) {
  Place place;
  const std::string who = side == Side::attack ? "attack" : "honest";
  std::map<std::string, std::string> env = place.environment(off);
  env["SUBMISSION"] = place.home / "submission";
  env["HOME_OF_TEST"] = place.home.path;
  env["OUTSIDE"] = place.outside();
  env["SECRET"] = place.secret();
  env["MARKER"] = place.marker;
  env["RIDGE"] = program();
  stage(a, side, place, place.home / "submission");
  // What is no source file is made by a script: links, names, devices.
  if (fs::path script = a.dir / (who + ".prepare.sh"); fs::exists(script)) {
    Run r = run({"sh", script.string()}, env, 20, place.home / "submission");
    if (r.code != 0) throw std::runtime_error(script.string() + " failed: " + r.out + r.err);
  }
  const std::string file = place.home / "result.json";
  std::vector<std::string> argv = {
      program(), a.mode, a.lab, "--backend", a.backend, "--task", a.task, "--submission", place.home / "submission",
      "--json",  file};
  for (std::size_t i = 0; i < a.arguments.size(); ++i) {
    // A tight limit is for the attack; what is honest may take its time on a busy machine.
    if (side == Side::honest && a.arguments[i] == "--time-limit")
      ++i;
    else
      argv.push_back(place.filled(a.arguments[i]));
  }
  // An attack may be a script altogether, which then runs the judge itself.
  if (fs::path script = a.dir / (who + ".sh"); fs::exists(script)) argv = {"sh", script.string()};

  Outcome o;
  std::string everything;
  try {
    Run r = run(argv, env, a.limit, place.home.path);
    o.code = r.code;
    everything = r.out + r.err;
  } catch (const std::runtime_error& e) {
    everything = e.what();
  }
  o.seen = everything.substr(0, 6000);
  if (fs::exists(file)) {
    std::string text = read_file(file);
    everything += text;
    json result = json::parse(text, nullptr, false);
    if (result.is_object() && result.contains("tasks")) {
      o.first_failed = first_failed_check(result);
      o.full_marks = o.code == 0 && result["score"]["points"] == result["score"]["max"];
    }
  } else if (fs::exists(a.dir / (who + ".sh"))) {
    o.full_marks = o.code == 0;
  }
  o.succeeded = succeeded(a, place, o, everything);
  return o;
}

bool rejected_as_expected(const Attack& a, const Outcome& o) {
  if (o.succeeded) return false;
  return std::any_of(a.fails.begin(), a.fails.end(), [&](const std::string& f) {
    if (f.rfind("exit:", 0) == 0) return o.code == std::stoi(f.substr(5));
    if (f == "harmless") return o.full_marks;  // it passes as the honest work that it also is, and gets nothing else
    return o.first_failed == f;
  });
}

}  // namespace ridge::test
