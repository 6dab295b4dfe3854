"""Two real ONNX models of a few kilobytes in the cache of their library, so that nothing is fetched.

The embedder gives each word of its vocabulary a direction of its own. The cross-encoder counts the words that question
and passage share.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType
from fastembed.rerank.cross_encoder import TextCrossEncoder
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

WORDS = [
    "the",
    "a",
    "ferry",
    "sails",
    "at",
    "nine",
    "every",
    "day",
    "harbour",
    "opens",
    "gates",
    "close",
    "bus",
    "tickets",
]
EMBEDDER = "tiny/embedder"
CROSS_ENCODER = "tiny/cross-encoder"
_SPECIAL = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
_IDS = {token: at for at, token in enumerate([*_SPECIAL.values(), *WORDS])}
_INT = TensorProto.INT64


def install(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts both into `cache`, which becomes the library's, and takes the network from the library."""
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(cache))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    _write(cache, EMBEDDER, _embedder())
    _write(cache, CROSS_ENCODER, _cross_encoder())
    sources = {name: ModelSource(hf=name) for name in (EMBEDDER, CROSS_ENCODER)}
    if EMBEDDER not in {model["model"] for model in TextEmbedding.list_supported_models()}:
        TextEmbedding.add_custom_model(
            EMBEDDER,
            pooling=PoolingType.MEAN,
            normalization=True,
            sources=sources[EMBEDDER],
            dim=len(_IDS),
            model_file="model.onnx",
        )
        TextCrossEncoder.add_custom_model(CROSS_ENCODER, sources=sources[CROSS_ENCODER], model_file="model.onnx")


def _write(cache: Path, name: str, model: onnx.ModelProto) -> None:
    repository = cache / f"models--{name.replace('/', '--')}"
    folder = repository / "snapshots" / "1"
    folder.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("1")
    onnx.save(model, folder / "model.onnx")
    _tokenizer().save(str(folder / "tokenizer.json"))
    configs = {
        "config.json": {"pad_token_id": _IDS["[PAD]"]},
        "tokenizer_config.json": {"model_max_length": 512, "pad_token": "[PAD]"},
        "special_tokens_map.json": _SPECIAL,
    }
    for file, content in configs.items():
        (folder / file).write_text(json.dumps(content))
    sizes = {f"snapshots/1/{path.name}": {"size": path.stat().st_size, "blob_id": ""} for path in folder.iterdir()}
    (repository / "files_metadata.json").write_text(json.dumps(sizes))


def _tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel(_IDS, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", _IDS["[CLS]"]), ("[SEP]", _IDS["[SEP]"])],
    )
    return tokenizer


def _inputs() -> list[onnx.ValueInfoProto]:
    names = ("input_ids", "attention_mask", "token_type_ids")
    return [helper.make_tensor_value_info(name, _INT, ["batch", "length"]) for name in names]


def _model(
    nodes: list[onnx.NodeProto], output: str, shape: list[str | int], **constants: np.ndarray
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "tiny",
        _inputs(),
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def _embedder() -> onnx.ModelProto:
    table = np.eye(len(_IDS), dtype=np.float32)
    table[: len(_SPECIAL)] *= 0.01
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["rows"])]
    return _model(nodes, "rows", ["batch", "length", len(_IDS)], table=table)


def _cross_encoder() -> onnx.ModelProto:
    """Words of the question (type 0) that stand in the passage (type 1) too; the special tokens come before both."""
    one, first = np.array([1], np.int64), np.array([len(_SPECIAL)], np.int64)
    node = helper.make_node
    nodes = [
        node("Less", ["input_ids", "first"], ["special"]),
        node("Not", ["special"], ["word"]),
        node("Equal", ["token_type_ids", "one"], ["late"]),
        node("Not", ["late"], ["early"]),
        node("And", ["word", "early"], ["asked"]),
        node("And", ["word", "late"], ["said"]),
        node("Unsqueeze", ["input_ids", "two"], ["rows"]),
        node("Unsqueeze", ["input_ids", "one"], ["columns"]),
        node("Equal", ["rows", "columns"], ["same"]),
        node("Unsqueeze", ["asked", "two"], ["asked_rows"]),
        node("Unsqueeze", ["said", "one"], ["said_columns"]),
        node("And", ["asked_rows", "said_columns"], ["across"]),
        node("And", ["same", "across"], ["shared"]),
        node("Cast", ["shared"], ["counted"], to=TensorProto.FLOAT),
        node("ReduceSum", ["counted", "axes"], ["sums"], keepdims=0),
        node("Unsqueeze", ["sums", "one"], ["logits"]),
    ]
    two, axes = np.array([2], np.int64), np.array([1, 2], np.int64)
    return _model(nodes, "logits", ["batch", 1], one=one, two=two, first=first, axes=axes)
