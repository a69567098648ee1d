# SPDX-License-Identifier: MIT
"""What documents name: links, paths, commands, flags, settings, targets of make. missing() lists
what is named and not there."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)#\s]*)(#[^)\s]+)?\)")
CODE = re.compile(r"`([^`\n]+)`")
FOLDERS = tuple(p.name + "/" for p in ROOT.iterdir() if p.is_dir() and p.name != "build")
# Where a document says that the paths which it names are.
BELOW = {"docs/compatibility.md": "tests/e2e"}
SUITE = re.compile(r"(?:rules/)?[a-z0-9_]+\.(?:py|mjs)")
MADE = ("build/", "bench/peers/node_modules")
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
# Flags of other programs, which documents name too.
FOREIGN_FLAGS = {"--stop-timeout", "--reference", "--memory", "--jobs", "--rows", "--scale",
                 "--rounds", "--lead-seconds", "--self-test"}
COMMAND = re.compile(r"(?:^|[\s(])belfry ((?:[a-z]+)(?: [a-z]+)?)")
WITHOUT_EXAMPLES = {"version"}


def documents():
    """The documents of the project; decisions tell of their time and name what was."""
    return sorted(str(path.relative_to(ROOT)) for path in [*ROOT.glob("*.md"),
                                                           *ROOT.glob("docs/*.md")])


def subcommands(text):
    listed = text.split("Subcommands:")[1].split("\n\n")[0] if "Subcommands:" in text else ""
    return re.findall(r"^  ([a-z]+) ", listed, re.M)


def help_texts(belfry):
    """`belfry … --help` of every command, by its words."""
    texts = {}
    waiting = [()]
    while waiting:
        words = waiting.pop(0)
        text = belfry(*words, "--help").stdout
        texts[" ".join(words)] = text
        waiting += [(*words, name) for name in subcommands(text)]
    return texts


def slug(heading):
    """A heading's anchor, as hosts of repositories make it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def broken_links(name, text):
    for path, anchor in LINK.findall(text):
        if "://" in path:
            continue
        file = (ROOT / name).parent / path if path else ROOT / name
        if not file.exists():
            yield path
        elif anchor and file.suffix == ".md":
            headings = re.findall(r"^#+ (.*)$", file.read_text(), re.M)
            if anchor[1:] not in map(slug, headings):
                yield path + anchor


def missing_paths(name, spans):
    for word in (word for span in spans for word in span.split()):
        word = word.rstrip(".,:;/")
        if "<" in word or "…" in word or word.startswith(MADE):
            continue
        below = name in BELOW and SUITE.fullmatch(word)
        if below and not (ROOT / BELOW[name] / word).exists():
            # A suite may stand beside another that was named with its folder.
            if not list((ROOT / "tests").rglob(word)):
                yield word
        elif word.startswith(FOLDERS) and not list(ROOT.glob(word + "*")):
            yield word


def missing_commands(spans, texts):
    for span in spans:
        for words in COMMAND.findall(span):
            first, _, second = words.partition(" ")
            below = subcommands(texts.get(first, ""))
            if first not in texts or (second and below and second not in below):
                yield f"belfry {words}"


def missing_flags(spans, texts):
    known = set(FLAG.findall(" ".join(texts.values()))) | FOREIGN_FLAGS
    return [flag for span in spans for flag in FLAG.findall(span) if flag not in known]


def missing_variables(text, texts):
    known = set(re.findall(r"BELFRY_[A-Z_]+", " ".join(texts.values())))
    settings = FLAG.findall(texts["serve"])
    known |= {"BELFRY_" + flag[2:].replace("-", "_").upper() for flag in settings}
    return [name for name in re.findall(r"\bBELFRY_[A-Z_]+", text) if name not in known]


def missing_targets(spans):
    makefile = (ROOT / "Makefile").read_text()
    for span in spans:
        for target in re.findall(r"^make ([a-z-]+)", span):
            if not re.search(rf"^{target}:", makefile, re.M):
                yield f"make {target}"


def missing(name, text, texts):
    spans = CODE.findall(re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S))
    return [*broken_links(name, text), *missing_paths(name, spans), *missing_commands(spans, texts),
            *missing_flags(spans, texts), *missing_variables(text, texts), *missing_targets(spans)]
