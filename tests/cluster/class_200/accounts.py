"""Ordinary accounts of this machine, made for one test and removed after it. Needs root."""
import os, pathlib, pwd, shutil, subprocess


class Accounts:
    def __init__(self, names, home):
        self.home, self.made = pathlib.Path(home), []
        self.why = ""
        if os.geteuid() != 0:
            self.why = "only root can make the accounts that this test needs"
        for program in ("useradd", "userdel", "setpriv"):
            if not shutil.which(program):
                self.why = f"there is no {program} here"
        for name in names if not self.why else []:
            made = subprocess.run(["useradd", "--no-create-home", "--user-group", "--shell", "/bin/sh", "--home-dir", str(self.home / name), name],
                                  capture_output=True, text=True)
            if made.returncode:
                self.why = f"no account can be made: {made.stderr.strip()}"
                break
            self.made.append(name)
            (self.home / name).mkdir(parents=True)
            shutil.chown(self.home / name, name)

    def words(self, user, argv, umask="077"):
        who = pwd.getpwnam(user)
        return ["setpriv", f"--reuid={who.pw_uid}", f"--regid={who.pw_gid}", "--clear-groups", "sh", "-c", f'umask {umask}; exec "$@"', "sh",
                *map(str, argv)]

    def env(self, user, **more):
        home = self.home / user
        return {"PATH": os.environ["PATH"], "HOME": str(home), "USER": user, "RIDGE_WORK": str(home / "work"), **more}

    def run(self, user, *argv, umask="077", limit=300, **env):
        return subprocess.run(self.words(user, argv, umask), capture_output=True, text=True, env=self.env(user, **env), cwd=self.home / user,
                              timeout=limit)

    def start(self, user, *argv, umask="077", **env):
        return subprocess.Popen(self.words(user, argv, umask), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                env=self.env(user, **env), cwd=self.home / user)

    def remove(self):
        for name in self.made:
            subprocess.run(["userdel", name], capture_output=True)
