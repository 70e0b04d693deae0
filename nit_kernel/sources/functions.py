"""Python functions as tools: name, docstring and type hints are all that is needed.

```
@tool ──marks──> function ──tool_of──> Tool(spec from signature and docstring, call)
                    └─ stays callable as before
```
Source: `spec/plugins.md`, section 3, as `docs/plugins.md` tells it.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    TypeVar,
    cast,
    get_args,
    get_origin,
    overload,
)

from nit_kernel.errors import NitRuntimeError, PluginError
from nit_kernel.language.schema import SideEffects
from nit_kernel.runtime.coercion import Coercer, CoercionError
from nit_kernel.runtime.context import ToolContext
from nit_kernel.runtime.misfit import got
from nit_kernel.runtime.tool import Place, Tool
from nit_kernel.sources.docstrings import read_docstring
from nit_kernel.sources.hints import Hint, read_hint, result_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nit_kernel.language.schema import JsonObject, JsonValue, ToolSpec

F = TypeVar("F", bound="Callable[..., object]")

NO_SIGNATURE: Final = "NIT562"
"""The code of what cannot be called with named arguments."""

_MARK: Final = "__nit_tool__"
_MADE: Final = object()
"""In place of a default that is made anew for each call."""

_ITERATORS: Final[tuple[object, ...]] = (Iterator, Generator, AsyncIterator, AsyncGenerator)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    """What `@tool(..)` was told."""

    name: str | None = None
    description: str | None = None
    parameters: JsonObject | None = None
    side_effects: SideEffects = "external"
    timeout: float | None = None
    confirm: bool = False
    thread: Place = "caller"


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(
    function: None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    parameters: JsonObject | None = None,
    side_effects: SideEffects = "external",
    timeout: float | None = None,
    confirm: bool = False,
    thread: Place = "caller",
) -> Callable[[F], F]: ...
def tool(
    function: F | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    parameters: JsonObject | None = None,
    side_effects: SideEffects = "external",
    timeout: float | None = None,
    confirm: bool = False,
    thread: Place = "caller",
) -> F | Callable[[F], F]:
    """Make a function a tool: `@tool`, or `@tool(side_effects="none")`.

    The function stays what it was. Its name, the first paragraph of its docstring and its type
    hints become the tool's name, description and schema; a parameter annotated `ToolContext` is
    handed in and is not part of the schema.

    Args:
        function: A plain, coroutine, generator or async generator function.
        name: The tool's name, if not the function's.
        description: For the model, if not the docstring's first paragraph.
        parameters: The JSON Schema, if not the one of the signature.
        side_effects: What a call changes: `"none"`, `"local"` (this machine) or `"external"`.
        timeout: Seconds that one call may take.
        confirm: Whether a model's script must always ask before it calls this.
        thread: Where a synchronous statement runs a plain function: `"caller"`, the thread of its
            cell, or `"worker"`.

    Raises:
        PluginError: The signature cannot be called with named arguments (`*args`).
    """
    if side_effects not in get_args(SideEffects) or thread not in get_args(Place):
        raise PluginError(
            f"`side_effects` is one of {_listed(SideEffects)}, `thread` one of {_listed(Place)}",
            code="NIT562",
        )
    options = _Options(
        name=name,
        description=description,
        parameters=parameters,
        side_effects=side_effects,
        timeout=timeout,
        confirm=confirm,
        thread=thread,
    )

    def mark(marked: F) -> F:
        if not callable(marked):
            raise _no_tool(marked)
        _refuse_star_arguments(marked)
        target = getattr(marked, "__func__", marked)
        setattr(target, _MARK, options)
        return marked

    return mark if function is None else mark(function)


def is_tool_function(value: object) -> bool:
    """Whether a function was marked by `@tool`."""
    return isinstance(value, types.FunctionType) and _MARK in vars(value)


def tool_of(function: object) -> Tool:
    """Return the tool that a function is, marked by `@tool` or not.

    Raises:
        PluginError: It cannot be called, or not with named arguments, or its schema is unusable.
    """
    if not callable(function):
        raise _no_tool(function)
    options = cast("_Options", getattr(function, _MARK, None) or _Options())
    signature = _read_signature(function)
    words = read_docstring(function)
    schema = options.parameters
    if schema is None:
        schema = _schema(signature, words.parameters)
    made = Tool(
        options.name or _name_of(function),
        options.description if options.description is not None else words.summary,
        schema,
        _caller(function, signature),
        returns=signature.returns,
        side_effects=options.side_effects,
        timeout=options.timeout,
        confirm=options.confirm,
        thread=options.thread,
        context=signature.context,
    )
    return _with_natives(made, signature)


def described_tool(
    function: Callable[..., object], spec: ToolSpec, *, context: str | None = None
) -> Tool:
    """Return a function as the tool that somebody else describes: a plugin's manifest.

    Its arguments become what its hints say, as for `tool_of`; it runs in a worker thread. Without a
    description in `spec` the docstring's first paragraph stands in.

    Args:
        function: The function.
        spec: All that is said about it.
        context: A parameter that gets the `ToolContext`, besides one annotated so.

    Raises:
        PluginError: It cannot be called with named arguments, or the schema is unusable.
    """
    signature = _read_signature(function, context)
    made = Tool(
        spec.name,
        spec.description or read_docstring(function).summary,
        spec.parameters,
        _caller(function, signature),
        returns=spec.returns,
        side_effects=spec.side_effects,
        timeout=spec.timeout_s,
        confirm=spec.confirm,
        thread="worker",
        context=signature.context,
        parameter_text=spec.parameter_text,
    )
    return _with_natives(made, signature)


def parameters_schema(function: Callable[..., object], *, context: str | None = None) -> JsonObject:
    """The JSON Schema of a function's parameters, from its hints and docstring.

    Args:
        function: The function.
        context: A parameter that is handed in and left out, besides one annotated `ToolContext`.
    """
    signature = _read_signature(function, context)
    return _schema(signature, read_docstring(function).parameters)


# The signature


@dataclass(frozen=True, slots=True, kw_only=True)
class _Signature:
    """What a signature says: hints by parameter, and how arguments are handed over."""

    parameters: Mapping[str, inspect.Parameter]
    hints: Mapping[str, Hint]
    fills: Mapping[str, Callable[[], object]]
    """How the default of a parameter is made that is written as pydantic's `Field(..)`."""
    context: str | None
    rest: Hint | None
    """The hint of `**kwargs`, if there are any."""
    returns: JsonObject | None


def _read_signature(function: Callable[..., object], context: str | None = None) -> _Signature:
    _refuse_star_arguments(function)
    parameters = dict(_signature_of(function).parameters)
    resolved = _resolved_hints(function)
    rest: Hint | None = None
    hints: dict[str, Hint] = {}
    kept: dict[str, inspect.Parameter] = {}
    fills: dict[str, Callable[[], object]] = {}
    for name, parameter in parameters.items():
        hint = resolved.get(name, Any)
        if _is_field(parameter.default):
            field = parameter.default
            hint, default = Annotated[hint, field], inspect.Parameter.empty
            if not field.is_required():
                fills[name] = functools.partial(field.get_default, call_default_factory=True)
                default = field.get_default() if field.default_factory is None else _MADE
            parameter = parameter.replace(default=default)
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            rest = read_hint(hint)
        elif name == context or _is_context(hint):
            context = name
        else:
            kept[name] = parameter
            hints[name] = read_hint(hint)
    return _Signature(
        parameters=kept,
        hints=hints,
        fills=fills,
        context=context,
        rest=rest,
        returns=_returns(resolved),
    )


def _signature_of(function: Callable[..., object]) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise PluginError(
            f"`{_name_of(function)}` has no signature that Python can read",
            code=NO_SIGNATURE,
            hint="write a function around it, with named parameters",
        ) from error


def _refuse_star_arguments(function: Callable[..., object]) -> None:
    for parameter in _signature_of(function).parameters.values():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            raise PluginError(
                f"`{_name_of(function)}` takes `*{parameter.name}`: a tool's arguments have names",
                code=NO_SIGNATURE,
                hint=f"take a list instead: `{parameter.name}: list`",
            )


def _resolved_hints(function: Callable[..., object]) -> dict[str, object]:
    """The hints as objects; one that names nothing there is (`TYPE_CHECKING`) takes everything."""
    plain = inspect.unwrap(function)
    if isinstance(plain, functools.partial):
        plain = cast("Callable[..., object]", plain.func)
    if not inspect.isroutine(plain) and not isinstance(plain, type):
        plain = cast("Callable[..., object]", type(plain).__call__)
    if isinstance(plain, type):
        plain = cast("Callable[..., object]", plain.__init__)
    annotations = cast("dict[str, object]", getattr(plain, "__annotations__", {}))
    scope = cast("dict[str, Any]", getattr(plain, "__globals__", {}))
    resolved: dict[str, object] = {}
    for name, annotation in annotations.items():
        # One by one, so that one unknown name does not take the other hints with it.
        single = types.FunctionType(_nothing.__code__, scope)
        single.__annotations__ = {name: annotation}
        try:
            resolved.update(inspect.get_annotations(single, eval_str=True))
        except (NameError, AttributeError, TypeError, SyntaxError):
            resolved[name] = Any
    return {name: None if hint is types.NoneType else hint for name, hint in resolved.items()}


def _nothing() -> None:
    """Lends its code to the carrier of one annotation."""


def _is_context(hint: object) -> bool:
    return hint is ToolContext or (get_origin(hint) is not None and ToolContext in get_args(hint))


def _is_field(default: object) -> bool:
    kind = type(default)
    return kind.__name__ == "FieldInfo" and kind.__module__.partition(".")[0] == "pydantic"


def _returns(hints: Mapping[str, object]) -> JsonObject | None:
    if "return" not in hints:
        return None
    hint = hints["return"]
    if (get_origin(hint) or hint) in _ITERATORS:
        return None
    return result_schema(hint)


def _schema(signature: _Signature, words: Mapping[str, str]) -> JsonObject:
    properties: JsonObject = {}
    definitions: JsonObject = {}
    required: list[JsonValue] = []
    for name, parameter in signature.parameters.items():
        hint = signature.hints[name]
        member = _with_definitions(hint, definitions)
        if words.get(name) and "description" not in member:
            member["description"] = words[name]
        if parameter.default is inspect.Parameter.empty:
            required.append(name)
        elif "default" not in member:
            default = _written(parameter.default, hint)
            if _is_json(default):
                member["default"] = cast("JsonValue", default)
        properties[name] = member
    schema: JsonObject = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    if signature.rest is None:
        schema["additionalProperties"] = False
    else:
        schema["additionalProperties"] = _with_definitions(signature.rest, definitions) or True
    if definitions:
        schema["$defs"] = definitions
    return schema


def _with_definitions(hint: Hint, definitions: JsonObject) -> JsonObject:
    """The schema of a hint, its definitions put among those of the others.

    Two classes of one name, from two modules, keep a definition each.
    """
    renamed: dict[str, str] = {}
    for name, definition in hint.definitions.items():
        free, number = name, 2
        while free in definitions and definitions[free] != definition:
            free, number = f"{name}_{number}", number + 1
        renamed[f"#/$defs/{name}"] = f"#/$defs/{free}"
    for name, definition in hint.definitions.items():
        free = renamed[f"#/$defs/{name}"].removeprefix("#/$defs/")
        definitions[free] = _with_references(definition, renamed)
    return cast("JsonObject", _with_references(hint.schema, renamed))


def _with_references(schema: JsonValue, renamed: Mapping[str, str]) -> JsonValue:
    if isinstance(schema, list):
        return [_with_references(part, renamed) for part in schema]
    if not isinstance(schema, dict):
        return schema
    copy = {key: _with_references(part, renamed) for key, part in schema.items()}
    reference = copy.get("$ref")
    if isinstance(reference, str):
        copy["$ref"] = renamed.get(reference, reference)
    return copy


def _written(default: object, hint: Hint) -> object:
    """A default as JSON writes it, if it can: a date becomes text, an object stays what it is."""
    # The order of a set differs from run to run, and a prompt should not.
    is_set = issubclass(type(default), (set, frozenset))
    if hint.written is None or is_set or _is_json(default):
        return default
    try:
        return hint.written(default)
    except (ValueError, TypeError, AttributeError):
        return default


def _is_json(value: object) -> bool:
    if value is None or isinstance(value, (str, int, bool)):
        return True
    if isinstance(value, float):
        return value - value == 0  # neither infinite nor NaN
    if isinstance(value, (list, tuple)):
        return all(map(_is_json, cast("list[object]", value)))
    if isinstance(value, dict):
        items = cast("dict[object, object]", value).items()
        return all(isinstance(key, str) and _is_json(member) for key, member in items)
    return False


# The call


def _with_natives(made: Tool, signature: _Signature) -> Tool:
    """Let values that already are what the hints say pass unconverted."""
    natives = {
        name: hint.is_native for name, hint in signature.hints.items() if hint.is_native is not None
    }
    if natives:
        made.coercer = Coercer(made.spec.parameters, natives=natives)
    return made


def _caller(function: Callable[..., object], signature: _Signature) -> Callable[..., object]:
    """The function itself, or one around it that first makes what the hints say."""
    builders = {name: h.build for name, h in signature.hints.items() if h.build is not None}
    rest = signature.rest.build if signature.rest is not None else None
    positional = [
        name
        for name, parameter in signature.parameters.items()
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY
    ]
    fills = signature.fills
    if not builders and rest is None and not positional and not fills:
        return function
    declared = signature.parameters

    @functools.wraps(function)
    def call(**arguments: object) -> object:
        for name, fill in fills.items():
            if name not in arguments:
                arguments[name] = fill()
        for name, value in arguments.items():
            build = builders.get(name) if name in declared else rest
            if build is not None and name != signature.context:
                arguments[name] = _built(name, build, value)
        first = [arguments.pop(name) for name in positional if name in arguments]
        return function(*first, **arguments)

    return call


def _built(name: str, build: Callable[[object], object], value: object) -> object:
    try:
        return build(value)
    except ValueError as error:
        misfit = _misfit(name, error, value)
        raise NitRuntimeError(misfit.message, code=misfit.code) from error


def _misfit(name: str, error: ValueError, value: object) -> CoercionError:
    """What pydantic says of its first finding, in one line; its own text has an address in it."""
    errors = getattr(error, "errors", None)
    if errors is None:
        return CoercionError(f"{error}, got {got(value)}", keys=[name])
    first = cast("dict[str, Any]", errors(include_url=False)[0])
    keys = [name, *first["loc"]]
    problem = f"{first['msg']}, got {got(first['input'])}"
    if keys[-1] == "[key]":  # pydantic's way to say that the key itself is wrong
        return CoercionError(problem, keys=keys[:-1], part="the key")
    return CoercionError(problem, keys=keys)


def _listed(kind: object) -> str:
    return ", ".join(f'"{word}"' for word in get_args(kind))


def _name_of(function: object) -> str:
    while isinstance(function, functools.partial):
        function = cast("object", function.func)
    return str(getattr(function, "__name__", None) or type(function).__name__)


def _no_tool(thing: object) -> PluginError:
    return PluginError(
        f"a tool is a function, and this is a `{type(thing).__name__}`",
        code=NO_SIGNATURE,
        hint="decorate a function with `@nit.tool`, or make a `nit.Tool`",
    )
