#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Debian package and the tarball: made, installed, started, upgraded, removed, purged.

    tests/packaging/package.py BUILD_DIR

The package is installed into a folder of its own (dpkg --root) that believes to have this
machine's packages, so that its dependencies are judged by dpkg. Its scripts are told the folder
in DPKG_ROOT instead of being locked into it, so no right to chroot is needed. The service is
started as the packaged unit says, without systemd's sandbox: unit.py looks at that.
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
sys.path.insert(0, str(ROOT / "tools"))
import named  # noqa: E402
from release import package_version, version_of  # noqa: E402
from rest import Client, Group, collection_body  # noqa: E402
from suite import Suite, equal, holds  # noqa: E402
from unit_file import Unit  # noqa: E402

ADDRESS = re.compile(r"Serving on http://127\.0\.0\.1:(\d+)\b")
TOKEN = re.compile(r"belfry_[0-9a-f]{16}_[0-9a-f]{64}")
KEY = re.compile(r"[0-9a-f]{64}\n")
PURL = re.compile(r"pkg:deb/debian/[a-z0-9.%B-]+@[\w.:~%-]+\?arch=\w+&distro=debian-\d+")
FOLDERS = ["etc/systemd/system", "run/private", "usr/bin", "var/lib/dpkg/info",
           "var/lib/dpkg/updates", "var/lib/dpkg/triggers", "var/lib/private", "var/lib/systemd",
           "var/log"]
SETTINGS = "etc/belfry/belfry.toml"
SECRET = "etc/belfry/secret.key"
UNIT = "lib/systemd/system/belfry.service"


def run(*command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)
    holds(done.returncode == 0, f"{command} ended with {done.returncode}:\n"
                                f"{done.stdout}{done.stderr}")
    return done.stdout


def pack(build_dir, folder):
    run(ROOT / "tools/package", build_dir, folder)
    return {path.name: path for path in sorted(folder.iterdir())}


def one_with(files, ending):
    return next(path for name, path in files.items() if name.endswith(ending))


class Machine:
    """A root of its own, with dpkg's knowledge of this machine."""

    def __init__(self, folder):
        self.root = folder
        for name in FOLDERS:
            (folder / name).mkdir(parents=True)
        known = pathlib.Path("/var/lib/dpkg/status").read_text().split("\n\n")
        without = [entry for entry in known if not entry.startswith("Package: belfry\n")]
        (folder / "var/lib/dpkg/status").write_text("\n\n".join(without))
        (folder / "var/lib/dpkg/available").touch()

    def dpkg(self, *arguments):
        force = ["--force-script-chrootless"]
        if os.geteuid() != 0:
            force.append("--force-not-root")
        environment = {**os.environ, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C",
                       "DEBIAN_FRONTEND": "noninteractive"}
        return run("dpkg", f"--root={self.root}", f"--log={self.root}/var/log/dpkg.log", *force,
                   *arguments, env=environment)

    def status(self):
        text = (self.root / "var/lib/dpkg/status").read_text()
        entry = re.search(r"^Package: belfry\nStatus: (.*)$", text, re.M)
        return entry.group(1) if entry else None

    def files(self):
        """Everything but dpkg's own books."""
        return {str(path.relative_to(self.root)) for path in self.root.rglob("*")
                if not str(path.relative_to(self.root)).startswith(("var/lib/dpkg", "var/log"))}

    def read(self, name):
        return (self.root / name).read_text()

    def mode(self, name):
        return oct((self.root / name).stat().st_mode & 0o7777)


class Service:
    """belfry, started as the unit in a root says, on a free port."""

    def __init__(self, machine):
        self.machine = machine
        self.unit = Unit(machine.read(UNIT))
        root = machine.root
        credentials = root / "run/credentials/belfry.service"
        # What systemd would do for it.
        self.places = {"%S": str(root / "var/lib"), "%t": str(root / "run"),
                       "%d": str(credentials)}
        credentials.mkdir(parents=True, exist_ok=True)
        for parent in (root / "var/lib", root / "run"):
            self._make_folder(parent)
        for credential in self.unit.all("LoadCredential"):
            name, path = credential.split(":")
            shutil.copy(root / path.lstrip("/"), credentials / name)
        self.port = self.process = None

    @staticmethod
    def _make_folder(parent):
        """As for a service with DynamicUser: where nobody else comes, with a link to it."""
        (parent / "private/belfry").mkdir(exist_ok=True)
        if not (parent / "belfry").is_symlink():
            (parent / "belfry").symlink_to("private/belfry")

    def start(self):
        program, *arguments = self.unit.one("ExecStart").split()
        command = [str(self.machine.root / program.lstrip("/"))]
        for argument in arguments:
            inside = argument.startswith("/etc/")
            command.append(str(self.machine.root / argument.lstrip("/")) if inside else argument)
        environment = {"BELFRY_LISTEN": "127.0.0.1:0"}
        for line in self.unit.all("Environment"):
            name, value = line.split("=", 1)
            for short, place in self.places.items():
                value = value.replace(short, place)
            environment[name] = value
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True)
        self.output = ""
        for line in self.process.stdout:
            self.output += line
            if match := ADDRESS.search(line):
                self.port = int(match.group(1))
                return self
        raise AssertionError(f"it ended with {self.process.wait()}:\n{self.output}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.output += self.process.stdout.read()
        equal(self.process.wait(), 0, self.output)


def same_bytes(suite, build_dir, first, folder):
    with suite.case("packed twice, the packages are the same bytes"):
        again = pack(build_dir, folder)
        digests = [{name: hashlib.sha256(path.read_bytes()).hexdigest()
                    for name, path in files.items()} for files in (first, again)]
        equal(digests[0], digests[1])


def checksums(suite, files):
    with suite.case("the checksums are those of the packages"):
        lines = dict(reversed(line.split("  ")) for line in
                     files["SHA256SUMS"].read_text().splitlines())
        equal(lines, {name: hashlib.sha256(path.read_bytes()).hexdigest()
                      for name, path in files.items() if name != "SHA256SUMS"})


def metadata(suite, package):
    with suite.case("the package has the one version, and every library as a dependency"):
        equal(run("dpkg-deb", "-f", package, "Version").strip(), package_version())
        holds(package_version().startswith(version_of()), package_version())
        depends = run("dpkg-deb", "-f", package, "Depends")
        for library in ("libc6", "libssl3", "libqpid-proton11", "libfmt9",
                        "libjemalloc2", "ca-certificates"):
            holds(re.search(rf"(^|, ){re.escape(library)}\b", depends), f"{library}: {depends}")
    with suite.case("no file of the package is anybody's but root's, or writable by others"):
        for line in run("dpkg-deb", "-c", package).splitlines():
            mode, owner = line.split()[:2]
            equal(owner, "root/root", line)
            holds(mode[5] == mode[8] == "-", line)
    with tempfile.TemporaryDirectory() as folder:
        run("dpkg-deb", "-x", package, folder)
        program(suite, pathlib.Path(folder) / "usr/bin/belfry")


def program(suite, path):
    with suite.case("no place of the machine that it was built on is in the program"):
        holds(str(ROOT).encode() not in path.read_bytes(), "the folder of the build")
        # An id of the build would be a hash over that folder's name too.
        equal(re.findall("Build ID.*", run("readelf", "--notes", path)), [])
    with suite.case("the program lies anywhere in memory, and what is resolved becomes read-only"):
        headers = run("readelf", "--program-headers", "--dynamic", "--wide", path)
        holds("GNU_RELRO" in headers and re.search(r"Flags: NOW PIE", headers), headers)


def manual(suite, binary, machine):
    with suite.case("the manual page knows every command"):
        page = subprocess.run(["gzip", "-dc", machine.root / "usr/share/man/man1/belfry.1.gz"],
                              capture_output=True, text=True, check=True).stdout
        commands = re.findall(r"^  ([a-z]+)  ", run(binary, "--help").split("Subcommands:")[1],
                              re.M)
        holds(len(commands) > 5, commands)
        described = re.sub(r'[",]', " ", page.split(".SH COMMANDS")[1].split(".SH")[0])
        named = set(re.findall(r"^\.BR? (.*)$", described, re.M))
        named = {word for line in named for word in line.split()}
        equal(sorted(set(commands) - named), [])


def documents(suite, folder, watching):
    """In `folder` lie the documents, below `watching` what Prometheus and Grafana read."""
    pages = sorted(folder.glob("*.md"))
    with suite.case("there are documents, and every link of theirs leads somewhere"):
        holds(len(pages) > 5, pages)
        for page in pages:
            for path, anchor in named.LINK.findall(page.read_text()):
                if "://" in path:
                    continue
                target = folder / path if path else page
                holds(target.is_file(), f"{page.name}: {path}")
                headings = re.findall(r"^#+ (.*)$", target.read_text(), re.M)
                holds(not anchor or anchor[1:] in map(named.slug, headings),
                      f"{page.name}: {path}{anchor}")
    with suite.case("Prometheus' rules and Grafana's dashboard are there"):
        holds("BelfryDown" in (watching / "prometheus/alerts.yml").read_text(), "no rules")
        holds((watching / "prometheus/prometheus.yml").is_file(), "no configuration")
        holds(json.loads((watching / "grafana/belfry.json").read_text())["panels"], "no dashboard")


def installed(suite, machine):
    with suite.case("dpkg installs it, and is content with its dependencies"):
        equal(machine.status(), "install ok installed")
    with suite.case("a key is made for this machine, for root's eyes alone"):
        holds(KEY.fullmatch(machine.read(SECRET)), "no key")
        equal(machine.mode(SECRET), "0o600")
    with suite.case("the service is enabled"):
        holds((machine.root / "etc/systemd/system/multi-user.target.wants/belfry.service")
              .is_symlink(), sorted(machine.files()))


def served(suite, machine):
    service = Service(machine).start()
    try:
        with suite.case("started as the unit says, it answers and is ready"):
            equal(Client(service.port).get("/healthz").status, 200)
            run(machine.root / "usr/bin/belfry", "ready", "--server",
                f"http://127.0.0.1:{service.port}")
        with suite.case("nothing is open without a token"):
            equal(Client(service.port).get(Group().collection()).status, 401)
        with suite.case("the first token is in its file, for one's own eyes, and in no log"):
            equal(machine.mode("run/belfry/first-token"), "0o600")
            token = machine.read("run/belfry/first-token").strip()
            holds(TOKEN.fullmatch(token), "no token")
            client = Client(service.port, token)
            equal(client.put(Group("kept").collection(), collection_body()).status, 201)
        with suite.case("what it is said to be is what it is"):
            said = run(machine.root / "usr/bin/belfry", "version")
            holds(re.fullmatch(rf"belfry {re.escape(version_of())} \(commit \S+, g\+\+ .*\)\n",
                               said), said)
    finally:
        service.stop()
    with suite.case("the token never was in the log"):
        holds(not TOKEN.search(service.output), "a token was printed")


def upgraded(suite, machine, package):
    settings = machine.read(SETTINGS) + '\nlog-level = "warning"\n'
    (machine.root / SETTINGS).write_text(settings)
    key, token = machine.read(SECRET), machine.read("run/belfry/first-token").strip()
    with suite.case("installed once more, settings, key and jobs stay as they were"):
        machine.dpkg("--install", package)
        equal(machine.read(SETTINGS), settings)
        equal(machine.read(SECRET), key)
        service = Service(machine).start()
        try:
            equal(Client(service.port, token).get(Group("kept").collection()).status, 200)
        finally:
            service.stop()


def removed(suite, machine, before):
    with suite.case("removed, the program is gone, settings and data are not"):
        machine.dpkg("--remove", "belfry")
        equal(machine.status(), "deinstall ok config-files")
        holds(not (machine.root / "usr/bin/belfry").exists(), "the program is still there")
        for kept in (SETTINGS, SECRET, "var/lib/belfry/belfry.db"):
            holds((machine.root / kept).exists(), kept)
    with suite.case("purged, nothing is left"):
        machine.dpkg("--purge", "belfry")
        equal(machine.status(), None)
        shutil.rmtree(machine.root / "run/credentials")  # systemd's, which would do so itself
        equal(sorted(machine.files() - before), [])


def tarball(suite, path, folder):
    with suite.case("the tarball holds a program that runs"):
        with tarfile.open(path) as archive:
            archive.extractall(folder)
            equal({member.mtime for member in archive.getmembers()},
                  {archive.getmembers()[0].mtime})
        top = next(folder.iterdir())
        equal(top.name + ".tar.gz", path.name)
        holds(version_of() in run(top / "bin/belfry", "version"), "another version")
        for name in ("systemd/belfry.service", "etc/belfry.toml", "doc/operating.md",
                     "doc/sbom.cdx.json", "LICENSE", "man/belfry.1"):
            holds((top / name).is_file(), name)
        run(top / "bin/belfry", "config", "--config", top / "etc/belfry.toml")
    documents(suite, top / "doc", top)


def bill(suite, build_dir, machine):
    listed = json.loads(machine.read("usr/share/doc/belfry/sbom.cdx.json"))
    libraries = {part["name"]: part for part in listed["components"]}
    with suite.case("the bill of materials has the form of CycloneDX 1.5"):
        check_form(listed)
    with suite.case("every library that the loader finds is on the bill, in its version"):
        for line in run("ldd", build_dir / "belfry").splitlines():
            match = re.search(r"=> (/\S+) ", line)
            if not match:
                continue
            path = os.path.realpath(match.group(1))
            names = [path, path.removeprefix("/usr")]
            owner = subprocess.run(["dpkg-query", "-S", *names], capture_output=True,
                                   text=True).stdout.split(":")[0]
            version = run("dpkg-query", "-W", "-f", "${Version}\n", owner).splitlines()[0]
            equal(libraries[owner]["version"], version, owner)
    with suite.case("what is compiled in from headers is on the bill too"):
        compiled_in = {name for name, part in libraries.items()
                       if {"name": "belfry:how", "value": "compiled in"} in part["properties"]}
        holds({"libcli11-dev", "libtomlplusplus-dev"} <= compiled_in, compiled_in)


def check_form(listed):
    """What the schema of CycloneDX 1.5 demands of the members that are here."""
    equal((listed["bomFormat"], listed["specVersion"], listed["version"]), ("CycloneDX", "1.5", 1))
    holds(re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
                       listed["serialNumber"]), listed["serialNumber"])
    holds(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", listed["metadata"]["timestamp"]), "time")
    equal(set(listed) - {"bomFormat", "specVersion", "version", "serialNumber", "metadata",
                         "components", "dependencies"}, set())
    parts = [listed["metadata"]["component"], *listed["components"]]
    for part in parts:
        equal(set(part) - {"type", "bom-ref", "name", "version", "licenses", "purl", "properties"},
              set(), part)
        holds(part["type"] in ("application", "library") and part["name"] and part["version"],
              part)
        # An expression stands alone in the list.
        equal([set(licence) for licence in part["licenses"]], [{"expression"}], part)
        for entry in part["properties"]:
            equal(set(entry), {"name", "value"})
    for part in listed["components"]:
        holds(PURL.fullmatch(part["purl"]), part["purl"])
    references = [part["bom-ref"] for part in parts]
    equal(len(set(references)), len(references), "references are unique")
    equal({entry["ref"] for entry in listed["dependencies"]}, set(references))
    for entry in listed["dependencies"]:
        holds(set(entry["dependsOn"]) <= set(references), entry)


def main():
    build_dir, suite = pathlib.Path(sys.argv[1]).resolve(), Suite()
    with tempfile.TemporaryDirectory(prefix="belfry-package-") as name:
        folder = pathlib.Path(name)
        files = pack(build_dir, folder / "first")
        package = one_with(files, ".deb")
        same_bytes(suite, build_dir, files, folder / "second")
        checksums(suite, files)
        metadata(suite, package)
        tarball(suite, one_with(files, ".tar.gz"), folder / "tarball")
        machine = Machine(folder / "root")
        before = machine.files()
        machine.dpkg("--install", package)
        installed(suite, machine)
        documents(suite, machine.root / "usr/share/doc/belfry",
                  machine.root / "usr/share/belfry")
        manual(suite, build_dir / "belfry", machine)
        bill(suite, build_dir, machine)
        served(suite, machine)
        upgraded(suite, machine, package)
        removed(suite, machine, before)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
