"""Every part of the catalogue has a form that shows all its parameters and gives them back."""

from __future__ import annotations

import pytest

from celosia.parts import find, grammar, kinds, parts
from celosia.studio import forms

EVERY = [(kind, name) for kind in kinds() for name in parts(kind)]


def filled(fields):
    """What a browser would send for a form that nobody touched."""
    sent = {}
    for field in fields:
        if field.control == "switch":
            if field.value:
                sent[field.name] = "true"
        elif field.control == "columns":
            sent[field.name] = list(field.value)
        elif field.control == "part":
            sent[f"{field.name}.use"] = field.value
            sent |= filled(field.inner)
        else:
            sent[field.name] = field.value
    return sent


@pytest.mark.parametrize(("kind", "name"), EVERY, ids=lambda given: given)
def test_a_form_shows_every_parameter_with_its_help_and_an_empty_one_changes_nothing(kind, name):
    cls = find(kind, name)
    fields = forms.fields(cls, {}, ["age", "zip"])
    assert [field.name for field in fields] == list(cls.model_fields)
    assert all(field.help for field in fields)
    assert forms.read(cls, filled(fields)) == {}


WRITTEN = [
    ("model", "k-anonymity(k=5)"),
    ("model", "l-diversity(l=3, column=diagnosis, variant=entropy)"),
    ("model", 'q-anonymity(q=5, sets={age={young="(0;20;40)"}})'),
    ("method", "generalise(suppress=0.05, levels={age=[0, 2]}, objective=domain-loss(gs=0.2))"),
    ("method", "round(columns=[income, tax], base=500)"),
    ("method", "recode(column=zip, level=1)"),
    ("method", "top-code(columns=[income], quantile=0.99)"),
    ("hierarchy", "intervals(breaks=[10, 20.5], width=5)"),
    ("hierarchy", "dates(units=[month, year])"),
    ("loss", "score(weight=0.25, loss=certainty-penalty(), risk=distance-linkage(known=[1, 2]))"),
]


@pytest.mark.parametrize(("kind", "text"), WRITTEN, ids=lambda given: given)
def test_what_a_policy_says_comes_back_from_its_form(kind, text):
    raw = grammar.part(text)
    cls = find(kind, raw["use"])
    fields = forms.fields(cls, raw, ["age", "zip", "income", "tax", "diagnosis"])
    assert {"use": raw["use"], **forms.read(cls, filled(fields))} == raw


def test_a_number_that_is_none_is_refused_in_words():
    cls = find("model", "k-anonymity")
    for text, wrong in (("five", "whole number"), ("2.5", "whole number")):
        with pytest.raises(forms.ParameterError, match=wrong):
            forms.read(cls, {"k": text})


def test_bounds_make_a_slider():
    (suppress,) = [field for field in forms.fields(find("method", "generalise"), {}) if field.name == "suppress"]
    assert suppress.slides
    assert (suppress.least, suppress.most, suppress.slide) == (0, 1, "0.01")


def test_a_number_without_an_upper_bound_slides_beyond_its_value():
    for k, reach in (("5", 20), ("12", 45), ("", 20)):  # 1 + 4 (12 - 1) = 45
        (field,) = forms.fields(find("model", "k-anonymity"), {"k": int(k)} if k else {})
        assert (field.slides, field.most, field.reach, field.slide) == (True, None, reach, "1")
    every = [field for kind, name in EVERY for field in forms.fields(find(kind, name), {})]
    assert all(field.reach > field.least for field in every if field.slides)
