"""Which codec a model gets where nobody said."""

from __future__ import annotations

import pytest

from nit_kernel.errors import CodecError
from nit_kernel.model.client import ModelFacts
from nit_kernel.model.codecs.choice import (
    Choice,
    choice_for,
    choose_codec,
    codec_named,
    text_form_for,
)
from nit_kernel.model.messages import Request, user


@pytest.mark.parametrize(
    ("model", "choice"),
    [
        ("gpt-5", Choice("nit")),
        ("Qwen2.5-Coder-1.5B", Choice("nit")),
        ("team/FunctionGemma-270M-it", Choice("native", "functiongemma")),
        ("", Choice("nit")),
    ],
)
def test_a_model_gets_scripts_unless_the_table_says_otherwise(model: str, choice: Choice) -> None:
    assert choice_for(model) == choice


def test_the_longest_pattern_decides_and_the_table_can_be_overridden() -> None:
    table = {"qwen": "json", "qwen3-coder": "react"}
    assert choice_for("Qwen3-Coder-30B", table) == Choice("react", "qwen3-coder")
    assert choice_for("qwen3:8b", table) == Choice("json", "qwen")
    assert getattr(choose_codec(ModelFacts(model="qwen3:8b"), table), "name", None) == "json"


@pytest.mark.parametrize(
    ("model", "form"),
    [
        ("qwen2.5:7b", "hermes"),
        ("Qwen3-Coder-30B-A3B", "qwen_xml"),
        ("Meta-Llama-3.1-8B-Instruct", "llama3_json"),
        ("llama-3.2-3b-instruct", "pythonic"),
        ("Llama-4-Scout", "pythonic"),
        ("mistral-nemo", "mistral"),
        ("deepseek-v3.1", "deepseek"),
        ("gpt-5", None),
    ],
)
def test_a_model_has_its_form_of_calls_as_text(model: str, form: str | None) -> None:
    assert text_form_for(model) == form


def encoded(facts: ModelFacts) -> Request:
    request = Request(model=facts.model, messages=(user("hi"),), handshake="A1B2")
    return choose_codec(facts).encode(request, ())


def test_replies_of_a_local_server_end_at_their_block() -> None:
    assert encoded(ModelFacts(model="m", is_local=True)).stop == ("</nit-A1B2>",)
    assert encoded(ModelFacts(model="m", is_local=True, takes_stop=False)).stop == ()
    assert encoded(ModelFacts(model="m")).stop == ()


@pytest.mark.parametrize(
    ("model", "is_local", "is_firm"),
    [
        ("qwen2.5-coder-1.5b-instruct", True, True),
        ("local", True, True),
        ("qwen3:32b", True, False),
        ("llama-3.1-8B-Instruct-Q4_K_M", True, False),
        ("gpt-5", False, False),
    ],
)
def test_small_local_models_are_asked_for_scripts_outright(
    model: str, is_local: bool, is_firm: bool
) -> None:
    late = encoded(ModelFacts(model=model, is_local=is_local)).messages[1]["content"]
    assert late.endswith("or in plain words if it needs no tool.") is not is_firm


def test_models_that_take_one_system_message_get_the_id_in_it() -> None:
    assert len(encoded(ModelFacts(model="gemma-3-4b", is_local=True)).messages) == 2
    assert len(encoded(ModelFacts(model="qwen3", is_local=True)).messages) == 3


@pytest.mark.parametrize("name", ["nit", "native", "json", "react", "hermes", "exaone"])
def test_a_codec_is_found_by_its_name(name: str) -> None:
    assert getattr(codec_named(name), "name", None) == name


def test_an_unknown_codec_is_an_error_that_suggests_the_nearest() -> None:
    with pytest.raises(CodecError) as caught:
        codec_named("jsno")
    assert (caught.value.code, caught.value.hint) == (
        "NIT613",
        "did you mean `json`? known are `auto`, `nit`, `native`, `json`, `react`, `deepseek`, "
        "`hermes`, `llama3_json`, `mistral`, `pythonic`, `qwen_xml`",
    )
