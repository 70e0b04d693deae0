"""The command `nit`: run, check and format scripts, list tools, make plugins.

Exit status: 0 all well; 1 the script failed, or what was listed has a fault; 2 bad usage or syntax.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nit_kernel as nit
from nit_kernel.errors import NitError, NitSyntaxError
from nit_kernel.language.values import clean_text, preview, to_json
from nit_kernel.sources.plugin_faults import MISSING_PACKAGE
from nit_kernel.sources.plugin_places import default_places

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nit_kernel._syntax import Diagnostic
    from nit_kernel.runtime.background import BackgroundTask
    from nit_kernel.runtime.result import Result
    from nit_kernel.session import Session
    from nit_kernel.sources.plugin_faults import Fault

OK, FAILED, USAGE = 0, 1, 2

VALUE_CHARS = 2_000
"""How much of a script's value `nit run` shows."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: The words after `nit`; the process's own if left out.

    Returns:
        The exit status: 0 all well, 1 failed, 2 bad usage or syntax.
    """
    options = _parser().parse_args(arguments)
    try:
        return options.command(options)
    except _UsageError as error:
        _say(f"nit: {error}")
        return USAGE
    except NitError as error:
        _say(error.render(color=_is_terminal(sys.stderr)))
        return FAILED
    except KeyboardInterrupt:
        _say("nit: interrupted")
        return 130
    except BrokenPipeError:
        # The reader of a pipe has gone; Python would complain when it flushes at the end.
        sys.stderr.close()
        return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="nit", description="Run, check and format NIT scripts.")
    parser.add_argument("--version", action="version", version=f"nit-kernel {nit.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, function: object, text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(command=function)
        return sub

    def with_plugins(sub: argparse.ArgumentParser) -> None:
        sub.add_argument(
            "--plugins", metavar="DIR", action="append", default=[], type=Path,
            help="a plugin folder, or a folder of them (may be given more than once)",
        )  # fmt: skip

    run = command("run", _run, "Run a script; its value goes to standard output.")
    run.add_argument("file", metavar="FILE", help="a .nit file, or - for standard input")
    with_plugins(run)
    run.add_argument("--json", action="store_true", help="print the whole outcome as JSON")

    check = command("check", _check, "Check a script against the loaded tools; nothing runs.")
    check.add_argument("file", metavar="FILE", help="a .nit file, or - for standard input")
    with_plugins(check)
    check.add_argument("--json", action="store_true", help="print the diagnostics as JSON")

    fmt = command("fmt", _fmt, "Format a script in place (standard input: to standard output).")
    fmt.add_argument("file", metavar="FILE", help="a .nit file, or - for standard input")
    fmt.add_argument("--upgrade", action="store_true", help="rewrite NIT 1.0 blocks to NIT 2")
    fmt.add_argument("--check", action="store_true", help="change nothing; status 1 if it would")

    tools = command("tools", _tools, "List the tools.")
    with_plugins(tools)
    tools.add_argument("--json", action="store_true", help="print names and schemas as JSON")

    plugins = command("plugins", _plugins, "List the plugins and what is wrong with them.")
    with_plugins(plugins)

    new_plugin = command("new-plugin", _new_plugin, "Write a working plugin with its test.")
    new_plugin.add_argument("name", metavar="NAME")
    new_plugin.add_argument(
        "--in", dest="folder", metavar="DIR", default=Path(), type=Path,
        help="where (default: here)",
    )  # fmt: skip

    check_plugin = command("check-plugin", _check_plugin, "Check one plugin folder.")
    check_plugin.add_argument("folder", metavar="DIR", type=Path)

    chat = command("chat", _chat, "Talk to a model, which acts by the loaded tools.")
    chat.add_argument("--model", "-m", metavar="NAME", help="default: NIT_MODEL")
    chat.add_argument("--base-url", metavar="URL", help="the server; default: OPENAI_BASE_URL")
    chat.add_argument(
        "--api", choices=("chat", "responses"), default="chat", help="of OpenAI's two"
    )
    chat.add_argument(
        "--codec", default="auto", help="nit, native, json, react, .. (default: auto)"
    )
    chat.add_argument(
        "--confirm", choices=("side-effects", "marked", "never"), default="side-effects",
        help="when to ask before a script runs (default: before side effects)",
    )  # fmt: skip
    chat.add_argument(
        "--local", metavar="FILE", nargs="?", const="",
        help="serve this GGUF file here; without a file Qwen's own is fetched once",
    )  # fmt: skip
    with_plugins(chat)

    kernel = commands.add_parser("kernel", help="the Jupyter kernel")
    kernel_commands = kernel.add_subparsers(required=True, metavar="COMMAND")
    install = kernel_commands.add_parser(
        "install", help="register the kernel where pip could not (another environment's Jupyter)"
    )
    install.set_defaults(command=_kernel_install)
    place = install.add_mutually_exclusive_group()
    place.add_argument("--user", action="store_true", help="for this user (the default)")
    place.add_argument("--sys-prefix", action="store_true", help="for this Python environment")
    place.add_argument("--prefix", metavar="DIR", type=Path, help="below this folder")
    install.add_argument("--name", default="nit", help="the kernel's name (default: nit)")
    install.add_argument(
        "--display-name", default="NIT (Python 3)", help="as the launcher shows it"
    )
    return parser


class _UsageError(Exception):
    """The words of the command are wrong, or name something that is not there."""


# Scripts


def _run(options: argparse.Namespace) -> int:
    source = _read(options.file)
    with _session(options.plugins) as session:
        result = session.run(source)
        session.wait()
        failed_tasks = [task for task in result.tasks.values() if task.state == "failed"]
        if options.json:
            _print_json(_outcome(result, failed_tasks))
        else:
            _show_outcome(result, failed_tasks)
        if isinstance(result.error, NitSyntaxError):
            return USAGE
        return OK if result.ok and not failed_tasks else FAILED


def _show_outcome(result: Result, failed_tasks: list[BackgroundTask]) -> None:
    color = _is_terminal(sys.stderr)
    for diagnostic in result.diagnostics:
        _say(diagnostic.render(color=color))
    error = result.error
    if error is not None and not error.diagnostics:
        _say(error.render(color=color))
    for task in failed_tasks:
        _say(f"background task `{task.name}` failed: {task.error}")
    if result.ok and result.value is not None:
        value = result.value
        print(clean_text(value) if isinstance(value, str) else preview(value, VALUE_CHARS))


def _outcome(result: Result, failed_tasks: list[BackgroundTask]) -> dict[str, Any]:
    error = result.error
    return {
        "ok": result.ok and not failed_tasks,
        "value": to_json(result.value),
        "variables": {name: to_json(value) for name, value in result.variables.items()},
        "calls": [
            {
                "name": call.name,
                "arguments": to_json(call.arguments),
                "status": call.status,
                "seconds": round(call.seconds, 6),
            }
            for call in result.calls
        ],
        "diagnostics": [_diagnostic_json(item) for item in result.diagnostics],
        "error": None
        if error is None
        else {"code": error.code, "message": error.message, "hint": error.hint},
        "failed_tasks": {task.name: str(task.error) for task in failed_tasks},
    }


def _check(options: argparse.Namespace) -> int:
    source = _read(options.file)
    with _session(options.plugins) as session:
        found = nit.check(source, session)
    if options.json:
        _print_json([_diagnostic_json(item) for item in found])
    else:
        for diagnostic in found:
            _say(diagnostic.render(color=_is_terminal(sys.stderr)))
    wrong = [item for item in found if item.severity == "error"]
    if not wrong:
        return OK
    return USAGE if any(item.code < "NIT300" for item in wrong) else FAILED


def _fmt(options: argparse.Namespace) -> int:
    source = _read(options.file)
    try:
        text = nit.format(source, upgrade=options.upgrade)
    except NitSyntaxError as error:
        _say(error.render(color=_is_terminal(sys.stderr)))
        return USAGE
    if options.check:
        if text == source:
            return OK
        _say(f"{options.file}: would be formatted anew")
        return FAILED
    if options.file == "-":
        sys.stdout.write(text)
    elif text != source:
        Path(options.file).write_text(text, encoding="utf-8", newline="")
    return OK


# Tools and plugins


def _tools(options: argparse.Namespace) -> int:
    with _session(options.plugins) as session:
        tools = session.registry.tools()
        if options.json:
            _print_json(
                [
                    {
                        "name": tool.full_name,
                        "signature": tool.spec.signature(),
                        "description": tool.spec.description,
                        "parameters": tool.spec.parameters,
                    }
                    for tool in tools
                ]
            )
            return OK
        source = None
        for tool in tools:
            if tool.source != source:
                source = tool.source
                print(f"{source}:")
            print(f"  {tool.spec.signature()}")
            first_line = tool.spec.description.strip().partition("\n")[0]
            if first_line:
                print(f"      {first_line}")
        faults = session.plugins.faults
        for fault in faults:
            if fault.severity == "error":
                _say(str(fault))
        return _status(faults)


def _plugins(options: argparse.Namespace) -> int:
    with _session(options.plugins) as session:
        for plugin in session.plugins.all:
            count = len(plugin.tools)
            tools = "1 tool" if count == 1 else f"{count} tools"
            state = tools if plugin.state == "loaded" else plugin.state
            title = f"{plugin.name} {plugin.version or ''}".rstrip()
            print(f"{title}: {state}  ({plugin.folder})")
            for fault in plugin.faults:
                print(f"    {fault}")
        return _status(session.plugins.faults)


def _new_plugin(options: argparse.Namespace) -> int:
    from nit_kernel.sources.scaffold import new_plugin  # noqa: PLC0415 - one command needs it

    folder = new_plugin(options.name, options.folder)
    print(f"wrote {folder}\ntry it: nit check-plugin {folder} && nit tools --plugins {folder}")
    return OK


def _check_plugin(options: argparse.Namespace) -> int:
    from nit_kernel.sources.scaffold import check_plugin  # noqa: PLC0415 - one command needs it

    if not options.folder.is_dir():
        raise _UsageError(f"no folder {options.folder}")
    faults = check_plugin(options.folder)
    for fault in faults:
        print(fault)
    if any(fault.severity == "error" for fault in faults):
        return FAILED
    print(f"{options.folder}: good")
    return OK


def _chat(options: argparse.Namespace) -> int:
    # Imported here: no other command needs the model layer.
    from contextlib import ExitStack  # noqa: PLC0415

    from nit_kernel.errors import CodecError  # noqa: PLC0415
    from nit_kernel.model.local import local_model  # noqa: PLC0415
    from nit_kernel.model.terminal import run_chat  # noqa: PLC0415

    with ExitStack() as stack:
        session = stack.enter_context(_session(options.plugins))
        base_url, model = options.base_url, options.model
        if options.local is not None:
            server = local_model(options.local or None, progress=_show_bytes)
            stack.enter_context(server)
            base_url, model = server.base_url, server.model
        try:
            chat = nit.Chat(
                model,
                session,
                options.codec,
                confirm=options.confirm,
                base_url=base_url,
                api=options.api,
            )
        except CodecError as error:
            raise _UsageError(f"{error.message}: {error.hint}") from None
        return run_chat(stack.enter_context(chat))


def _show_bytes(there: int, total: int | None) -> None:
    if _is_terminal(sys.stderr):
        share = f" of {total / 1e6:,.0f}" if total else ""
        end = "\n" if there == total else ""
        print(f"\rfetching: {there / 1e6:,.0f}{share} MB", end=end, file=sys.stderr, flush=True)


def _kernel_install(options: argparse.Namespace) -> int:
    from nit_kernel.notebook.kernelspec import install_kernelspec  # noqa: PLC0415 - loads Jupyter

    prefix = sys.prefix if options.sys_prefix else options.prefix
    try:
        folder = install_kernelspec(
            name=options.name,
            display_name=options.display_name,
            prefix=None if prefix is None else Path(prefix),
        )
    except (OSError, ValueError) as error:
        raise _UsageError(f"cannot install the kernelspec: {error}") from error
    print(f"installed {folder}")
    return OK


# What the commands share


def _session(folders: list[Path]) -> Session:
    """A session with the shipped plugins and the given ones."""
    for folder in folders:
        if not folder.is_dir():
            raise _UsageError(f"no folder {folder}")
    return nit.Session(plugins=[*folders, *default_places()])


def _status(faults: Iterable[Fault]) -> int:
    """1 where a plugin is broken; one that only waits for a package to be installed is not."""
    broken = (f for f in faults if f.severity == "error" and f.code != MISSING_PACKAGE)
    return FAILED if any(broken) else OK


def _read(file: str) -> str:
    """The text of a script, its line breaks as they are."""
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise _UsageError(f"cannot read {file}: {error.strerror or error}") from error
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _UsageError(f"{file} is not UTF-8 text (byte {error.start})") from error


def _diagnostic_json(item: Diagnostic) -> dict[str, Any]:
    span = item.span
    return {
        "code": item.code,
        "severity": item.severity,
        "message": item.message,
        "hint": item.hint,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }


def _print_json(value: object) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2))


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _is_terminal(stream: Any) -> bool:
    return bool(getattr(stream, "isatty", bool)())


if __name__ == "__main__":
    sys.exit(main())
