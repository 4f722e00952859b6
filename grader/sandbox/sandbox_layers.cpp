#include "grader/sandbox/sandbox_layers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "grader/sandbox/process.hpp"
#include "grader/sandbox/sandbox.hpp"
#include "grader/sandbox/sandbox_cgroup.hpp"
#include "grader/sandbox/sandbox_config.hpp"
#include "grader/sandbox/sandbox_filter.hpp"

namespace ridge {

namespace {

using sandbox::Stage;

struct Attempt {
  bool ok = false;
  int stage = -1;
  std::string why;
};

// A program that does nothing, with these parts.
Attempt attempt(const SandboxParts& parts) {
  Attempt a;
  Sandbox description;
  description.environment = {"PATH=/usr/bin:/bin"};
  fs::path program = parts.namespaces ? fs::path("/.ridge/sandbox-exec") : sandbox_helper();
  SandboxRun run(description, {program.string(), "--null"}, parts);
  int out[2];
  if (pipe2(out, O_CLOEXEC) != 0) return {false, -1, std::strerror(errno)};
  pid_t pid = fork_child();
  if (pid == 0) {
    int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(out[1], 1);
    dup2(out[1], 2);
    run.exec(2);
  }
  close(out[1]);
  a.why = run.started(pid);
  a.stage = run.failed_stage();
  char text[4096];
  ssize_t n = read(out[0], text, sizeof text);  // until it ends: it prints nothing where all is well
  close(out[0]);
  int status = pid > 0 ? wait_child(pid) : 1;
  a.ok = a.why.empty() && run.own_status(status) == 0;
  if (n > 0) a.why = std::string(text, static_cast<std::size_t>(n)).substr(0, static_cast<std::size_t>(n) - 1);
  if (std::string left = run.finish(); a.ok && !left.empty()) a = {false, -1, "left behind: " + left};
  return a;
}

bool knows(const fs::path& bwrap, const char* option) {
  static const std::string help = run_process({bwrap.string(), "--help"}, {}, {}).output;
  return help.find(option) != std::string::npos;
}

struct Found {
  SandboxParts parts;
  std::vector<SandboxLayer> layers;
};

Found find() {
  Found f;
  SandboxParts& p = f.parts;
  std::string no_namespaces, no_filter, no_landlock, no_group, no_helper;
  p.helper = access(sandbox_helper().c_str(), X_OK) == 0;
  if (!p.helper) no_helper = "bin/ridge-sandbox-exec is not built: run `./ridge build`";
  fs::path bwrap = find_bwrap();
  if (bwrap.empty()) no_namespaces = "bwrap was not found: apt-get install bubblewrap, or set RIDGE_BWRAP to it";
  p.namespaces = p.helper && !bwrap.empty();
  if (p.namespaces) {
    p.sized_tmpfs = knows(bwrap, "--size");
    p.user_namespace = geteuid() != 0;
    p.no_nested_namespaces = knows(bwrap, "--disable-userns");
  }
  p.system_calls = p.helper && !system_call_filters(Calls::worker).empty();
  if (p.helper && !p.system_calls)
    no_filter = "this ridge was built without libseccomp: apt-get install libseccomp-dev, then `./ridge build`";
  p.landlock = p.limits = p.group = p.helper;
  p.become_nobody = p.helper && geteuid() == 0;  // with namespaces or without
  // Each attempt that fails takes away what it failed at.
  for (int i = 0; p.helper && i < 10; ++i) {
    Attempt a = attempt(p);
    if (a.ok) break;
    if (a.stage == static_cast<int>(Stage::landlock) && p.landlock) {
      no_landlock = a.why + ": the kernel has none (it came with Linux 5.13), or a container forbids it";
      p.landlock = false;
    } else if (a.stage == static_cast<int>(Stage::system_calls) && p.system_calls) {
      no_filter = a.why + ": a container forbids it";
      p.system_calls = false;
    } else if (a.stage == static_cast<int>(Stage::limits) && p.group) {
      no_group = a.why;
      p.group = false;
    } else if (p.namespaces && p.no_nested_namespaces && p.user_namespace) {
      p.no_nested_namespaces = false;  // not in every container; the filter forbids it too
    } else if (p.namespaces && !p.user_namespace) {
      p.user_namespace = true;  // root without all of its powers
      p.become_nobody = false;
    } else if (p.namespaces) {
      no_namespaces = a.why +
                      ": allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces, "
                      "kernel.apparmor_restrict_unprivileged_userns=0 or a profile for bwrap); in a container, "
                      "start it with more rights";
      p.namespaces = p.user_namespace = p.no_nested_namespaces = false;
      p.become_nobody = geteuid() == 0;
    } else if (p.become_nobody) {
      p.become_nobody = false;  // root that may not take on another user
    } else {
      no_helper = a.why;
      p = {};
    }
  }
  if (!no_helper.empty())
    for (std::string* reason : {&no_namespaces, &no_filter, &no_landlock, &no_group})
      if (reason->empty()) *reason = no_helper;
  SandboxGroups groups = p.group ? sandbox_groups() : SandboxGroups{};
  if (no_group.empty())
    no_group =
        "no control group may be made here: run as a user with a systemd session, or set RIDGE_CGROUP to one "
        "that was delegated (systemd-run --scope -p Delegate=yes)";
  auto layer = [&](const char* name, bool is_on, bool required, const std::string& reason) {
    f.layers.push_back({name, is_on, required, is_on ? "" : reason});
  };
  layer("namespaces", p.namespaces, true, no_namespaces);
  layer("system-calls", p.system_calls, true, no_filter);
  layer("landlock", p.landlock, true, no_landlock);
  layer("limits", p.limits, true, no_helper);
  layer("group-processes", groups.tasks, false, no_group + "; a limit per user stands in");
  layer("group-memory", groups.memory, false, no_group + "; the judge watches the memory in use itself");
  return f;
}

const Found& found() {
  static const Found f = find();
  return f;
}

}  // namespace

const SandboxParts& sandbox_parts() { return found().parts; }

const std::vector<SandboxLayer>& sandbox_report() { return found().layers; }

bool sandbox_complete(const std::vector<SandboxLayer>& layers) {
  for (const auto& layer : layers)
    if (layer.required && !layer.on) return false;
  return !layers.empty();
}

std::string missing_layers(const std::vector<SandboxLayer>& layers) {
  std::string names;
  for (const auto& l : layers)
    if (l.required && !l.on) names += (names.empty() ? "" : ", ") + l.name;
  return names;
}

fs::path sandbox_helper() { return build_dir() / "bin/ridge-sandbox-exec"; }

fs::path find_bwrap() {
  const char* given = std::getenv("RIDGE_BWRAP");
  return find_program({given != nullptr && *given != 0 ? given : "bwrap"});
}

}  // namespace ridge
