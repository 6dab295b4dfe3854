"""Which model the settings ask for."""

from __future__ import annotations

from engine.errors import ModelMisconfigured
from engine.llm.claude import ClaudeModel
from engine.llm.openai import OpenAIModel
from engine.llm.remote import RemoteModel
from engine.model.observer import Observer
from engine.settings import EngineSettings


def chosen_model(settings: EngineSettings, observer: Observer) -> RemoteModel | None:
    """The language model of `settings`; None for the offline agent.

    A model ``openai:NAME`` is asked for by naming it. Claude, which is the default, is used under ``agent="auto"``
    where there is a key; under ``agent="claude"`` without one, the SDK looks for a key by itself.

    Raises:
        ModelMisconfigured: the two models, or model and agent, belong to different services.
    """
    problem = settings.llm.problem(settings.agent)
    if problem is not None:
        raise ModelMisconfigured(problem)
    if settings.agent == "offline":
        return None
    if settings.llm.service == "openai":
        return OpenAIModel(settings.llm, observer)
    if settings.agent == "auto" and not settings.llm.api_key:
        return None
    return ClaudeModel(settings.llm, observer)
