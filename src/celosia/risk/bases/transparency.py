"""Base class of attacks by a reader of the certificate, and the public part of a step.

Such an attack uses what a certificate publishes about a step: its public parameters and its public evidence. It never
uses the seed, the private parameters and the private evidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field, model_validator

from celosia.errors import NotApplicable, ParameterError
from celosia.parts import Method, ReadsCertificate, find, overwritten_fields, private_fields, public_spec
from celosia.risk.bases.success import Success, SuccessEvidence, _SuccessAttack

if TYPE_CHECKING:
    from celosia.table import Table


@dataclass(frozen=True)
class PublicStep:
    """One step as a certificate describes it."""

    method: str
    parameters: Mapping[str, Any]
    """The public parameters, defaults included."""
    evidence: Mapping[str, Any]
    """The published evidence of the step."""

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> PublicStep:
        """Read a step from an entry of the history, or of a certificate."""
        method: type[Method] = find("method", entry["step"])  # type: ignore[assignment]
        hidden = private_fields(method)
        defaults = {
            name: info.get_default(call_default_factory=True, validated_data={})
            for name, info in method.model_fields.items()
            if name not in hidden and not info.is_required()
        }
        given = {name: value for name, value in entry["parameters"].items() if name != "use" and name not in hidden}
        evidence = {name: value for name, value in entry.items() if name not in {"step", "parameters"}}
        return cls(entry["step"], {**defaults, **given}, evidence)

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that the step overwrote, as far as its parameters name them."""
        method: type[Method] = find("method", self.method)  # type: ignore[assignment]
        named = (self.parameters.get(name) or () for name in overwritten_fields(method))
        return tuple(name for value in named for name in ((value,) if isinstance(value, str) else value))


def public_steps(protected: Table, methods: tuple[str, ...]) -> tuple[PublicStep, ...]:
    """Return the steps of these methods in the history of a table, in their order."""
    return tuple(PublicStep.of(entry) for entry in protected.history if entry["step"] in methods)


def wanted_column(attack: str, original: Table, given: str | None) -> str:
    """Return the sensitive column that an intruder infers: ``given``, or the first of the schema."""
    if given is not None:
        return given
    if not original.schema.sensitive:
        raise NotApplicable(f"{attack}: no sensitive column is declared; name the target.")
    return original.schema.sensitive[0]


class _InformedAttack(ReadsCertificate, _SuccessAttack):
    """An attack that uses what a certificate publishes about the methods that it ``reads``.

    A subclass implements :meth:`run`. The value is the mean chance of success over persons.
    """

    method: Method | None = Field(
        default=None,
        description="the step as the certificate states it; those of the protected table's history if not given",
    )

    @model_validator(mode="after")
    def _readable(self) -> _InformedAttack:
        if self.method is not None and self.method.name not in self.reads:
            readable = ", ".join(self.reads)
            raise ParameterError(f"{self.name}: the method must be one of {readable}, got {self.method.name}.")
        return self

    def steps(self, protected: Table) -> tuple[PublicStep, ...]:
        """Return the steps that the intruder has read about; raise when there is none."""
        if self.method is not None:
            return (PublicStep.of({"step": self.method.name, "parameters": public_spec(self.method)}),)
        steps = public_steps(protected, self.reads)
        if not steps:
            raise NotApplicable(
                f"{self.name}: no step of the protected table is one of {', '.join(self.reads)}; give the method, "
                "with its parameters as the certificate states them."
            )
        return steps

    def evidence(self, original: Table, protected: Table) -> SuccessEvidence:
        """Return the value with its interval, the baseline, and the control, who has not read the certificate."""
        evidence = super().evidence(original, protected)
        evidence["read"] = list(dict.fromkeys(step.method for step in self.steps(protected)))
        if "better_than_control" in evidence:
            evidence["due_to_the_certificate"] = evidence.pop("better_than_control")
        return evidence


__all__ = ["PublicStep", "Success", "public_steps", "wanted_column"]
