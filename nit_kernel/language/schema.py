"""What a tool is to the language: its names, its words, the schema of its arguments."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from nit_kernel.language.json_form import clean_text
from nit_kernel.language.names import (
    did_you_mean,
    is_bare_name,
    nearest,
    nit_name,
    nit_names,
    provider_name,
    provider_names,
)
from nit_kernel.language.parameters import (
    Declared,
    JsonObject,
    JsonValue,
    declared_parameters,
    resolve_reference,
)
from nit_kernel.language.signature import signature_text, type_text

__all__ = [
    "Declared",
    "JsonObject",
    "JsonValue",
    "SideEffects",
    "ToolSpec",
    "declared_parameters",
    "did_you_mean",
    "is_bare_name",
    "nearest",
    "nit_name",
    "nit_names",
    "provider_name",
    "provider_names",
    "resolve_reference",
    "type_text",
]

SideEffects: TypeAlias = Literal["none", "local", "external"]
"""What a call may change: nothing, this machine or session, the world outside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as it is described: nothing in it can be called.

    Attributes:
        name: The exact name (`"get-weather"`).
        nit_name: The name written in a script (`get_weather`); made from `name` if left out.
        description: What it is for, in words for the model.
        parameters: The JSON Schema of its arguments, an object schema.
        returns: The JSON Schema of its result, if there is one.
        side_effects: What a call may change.
        confirm: Whether a person must always agree to a call from a model's script.
        timeout_s: Longest run in seconds; `None`: the session's own limit.
        ordered: Whether positional arguments follow the order of the schema. Source: NIT 2,
            section 3.
        parameter_text: The free text on the parameters in `description.json`.
    """

    name: str
    description: str
    parameters: JsonObject
    nit_name: str = ""
    returns: JsonObject | None = None
    side_effects: SideEffects = "external"
    confirm: bool = False
    timeout_s: float | None = None
    ordered: bool = True
    parameter_text: str = ""
    declared: Declared = field(init=False, repr=False, compare=False)
    argument_names: dict[str, str] = field(init=False, repr=False, compare=False)
    """The name as written in NIT of each declared parameter, in the schema's order."""
    _written: dict[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Foreign texts: one that no file or request could hold would break whoever shows it.
        object.__setattr__(self, "description", clean_text(self.description))
        object.__setattr__(self, "parameter_text", clean_text(self.parameter_text))
        declared = declared_parameters(self.parameters)
        names = nit_names(declared.properties)
        # An exact name wins over the written form of another parameter.
        written = {name: exact for exact, name in names.items()}
        written |= {exact: exact for exact in declared.properties}
        object.__setattr__(self, "nit_name", self.nit_name or nit_name(self.name))
        object.__setattr__(self, "declared", declared)
        object.__setattr__(self, "argument_names", names)
        object.__setattr__(self, "_written", written)

    @property
    def positional(self) -> tuple[str, ...]:
        """The exact names of the parameters that positional arguments go to, in order.

        Where the schema gives no dependable order, this is the only required parameter, if there
        is exactly one.
        """
        if self.ordered:
            return tuple(self.declared.properties)
        required = self.required
        return tuple(required) if len(required) == 1 else ()

    @property
    def required(self) -> frozenset[str]:
        """The exact names of the parameters that must be given."""
        return self.declared.required

    @property
    def is_open(self) -> bool:
        """Whether the tool takes arguments that its schema does not declare."""
        return self.declared.is_open

    def parameter_named(self, written: str) -> str | None:
        """Return the exact name of the parameter meant by an argument's name, or `None`.

        An argument may be written with its exact name or with its NIT name.
        """
        exact = self._written.get(written)
        if exact is not None:
            return exact
        return written if self.declared.accepts(written) else None

    def signature(self) -> str:
        """Return one line such as `search(query: str, limit: int = 10) -> list`."""
        return signature_text(
            self.nit_name,
            self.declared,
            self.argument_names,
            parameters=self.parameters,
            returns=self.returns,
        )
