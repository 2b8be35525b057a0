"""Every parameter of every model has an example and a second implementation, or a reason why not."""

from __future__ import annotations

import inspect

import pytest
from tests.reference.examples import EXAMPLES

from celosia.checker.models import MODELS, NOT_APPLIED
from celosia.parts import find, parts

PARAMETERS = [(name, field) for name, cls in parts("model").items() for field in cls.model_fields]


@pytest.mark.parametrize(("name", "field"), PARAMETERS)
def test_a_parameter_of_a_model_is_applied_by_the_checker_or_declared_as_not(name, field):
    applied = field in inspect.signature(MODELS[name]).parameters
    declared = field in NOT_APPLIED.get(name, {})
    assert applied != declared, f"{name}: apply {field} in celosia.checker.models, or declare it in NOT_APPLIED there"


@pytest.mark.parametrize(("name", "field"), PARAMETERS)
def test_a_parameter_that_the_checker_applies_has_an_example_that_is_not_its_default(name, field):
    if field in NOT_APPLIED.get(name, {}) or any(each.model == name and each.bound == field for each in EXAMPLES):
        return
    cls = find("model", name)
    default = cls.model_fields[field].get_default(call_default_factory=True)
    values = [given[field] for given in cls.examples if field in given]
    assert any(value != default for value in values), f"{name}: give {field} another value in one of its `examples`"


def test_nothing_is_declared_of_a_parameter_that_is_gone():
    declared = {(name, field) for name, fields in NOT_APPLIED.items() for field in fields}
    assert declared <= set(PARAMETERS)
