"""Examples of the command line, run while the pages are built.

`console` runs the lines that begin with `$ ` in a folder of sample files, one folder a page, and shows what they print.
A command that ends with another exit code than the option `exit` (0) is a warning, and so an error of the build.
`command-help` shows the help of every command.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from pygments.lexer import RegexLexer, bygroups, using
from pygments.lexers import BashLexer
from pygments.token import Generic
from sphinx.util import logging

logger = logging.getLogger(__name__)
WIDTH = "88"
TABLE = re.compile(r"\S {2,}\S.* {2,}\S.* {2,}\S")


class SessionLexer(RegexLexer):
    """Commands after `$ `, and what they print; Pygments takes `%` and `#` for prompts, too."""

    name = "Session"
    tokens = {"root": [(r"^(\$ )(.*\n?)", bygroups(Generic.Prompt, using(BashLexer))), (r".+\n?|\n", Generic.Output)]}


class Console(Directive):
    has_content = True
    option_spec = {"exit": directives.nonnegative_int}

    def run(self):
        env = self.state.document.settings.env
        folder = working_folder(env)
        expected = self.options.get("exit", 0)
        shown = []
        for line in self.content:
            if not line.startswith("$ "):
                logger.warning("a line of an example does not begin with `$ `: %s", line, location=self.place(env))
                continue
            ran = shell(env.config.ncut_command, line[2:], folder)
            if ran.returncode != expected:
                logger.warning(
                    "`%s` ended with %d, not %d: %s",
                    line,
                    ran.returncode,
                    expected,
                    ran.stdout,
                    location=self.place(env),
                )
            shown.append("\n".join([line, *ran.stdout.rstrip("\n").splitlines()]))
        made = literal("\n\n".join(shown), "session")
        # Lines of a table stay whole, all others are broken where the page ends.
        if TABLE.search(made.astext()):
            made["classes"].append("session-table")
        return [made]

    def place(self, env):
        return env.docname, self.lineno


class CommandHelp(Directive):
    """A section for every command, with what `--help` prints."""

    def run(self):
        command = self.state.document.settings.env.config.ncut_command
        overview = help_of(command)
        listed = overview.partition("Commands:\n")[2].partition("\n\n")[0]
        names = [name for name in re.findall(r"^  (\w+)  ", listed, re.MULTILINE) if name != "help"]
        sections = [section("ncut", overview)]
        sections += [section(f"ncut {name}", help_of(command, name)) for name in names]
        return sections


def section(title, text):
    name = title.replace(" ", "-")
    made = nodes.section(ids=[name], names=[name])
    made += nodes.title(text=title)
    made += literal(text, "text")
    return made


def literal(text, language):
    made = nodes.literal_block(text, text)
    made["language"] = language
    return made


def help_of(command, *names):
    environment = {**os.environ, "COLUMNS": WIDTH}
    ran = subprocess.run([command, *names, "--help"], check=True, capture_output=True, text=True, env=environment)
    return ran.stdout.rstrip()


def working_folder(env):
    """The folder of a page, with the sample files in it."""
    root = Path(env.srcdir).parent / "target" / "docs"
    samples, folder = root / "samples", root / "consoles" / env.docname
    if not samples.exists():
        subprocess.run([sys.executable, Path(env.srcdir) / "samples.py", samples], check=True)
    if env.temp_data.get("console_folder") != folder:
        env.temp_data["console_folder"] = folder
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(samples, folder)
    return folder


def shell(command, line, folder):
    """Runs a line with `ncut` on the path, both streams in one."""
    path = f"{Path(command).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": WIDTH, "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def setup(app):
    app.add_config_value("ncut_command", "ncut", "env")
    app.add_lexer("session", SessionLexer)
    app.add_directive("console", Console)
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
