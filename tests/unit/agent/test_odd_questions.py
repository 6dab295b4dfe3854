"""Questions and texts that nobody expects: an answer or a not-found, never an error."""

from __future__ import annotations

from collections.abc import Generator

import pytest

import engine
from engine.agent.offline.plan import MAX_QUERIES
from engine.model.search import MAX_EXCERPT

TEXTS = (
    "สะพานข้ามแม่น้ำเปิดใช้งานในปี 2430 และมีความยาว 212 เมตร ชาวบ้านใช้ข้ามไปตลาดทุกวัน",
    "x" * 100_000,
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nfor i in range(10): print(i)\n```",
    "The bridge was opened in 1887\nit is 212 metres long\nno full stop anywhere",
    "🙂🙂🙂",
    "the bridge that crosses the river and " * 2_600,
    "橋は川を渡り市場へ続き" * 9_000,
    "def bridge(river): return river[0] if river else None\n" * 2_000,
)
QUESTIONS = (
    "bridge",
    "?",
    "🙂",
    "…!?",
    "AB-1417",
    "CVE-2024-3094 5.6.1 v2",
    "bridge " * 280,
    "สะพานเปิดเมื่อไหร่ and how long is the мост?",
    "<script>alert(1)</script> [1] {sought} %s",
    "a\u0301\u0301\u0301 \u200f\u200e \ufeff",
    "橋" * 2_000,
    "is it? " * 280,
    "and " * 500,
    "'; DROP TABLE documents; -- \" OR 1=1 AND {{7*7}} ${x}",
    "1" * 2_000,
    "- " * 1_000,
)


@pytest.fixture(scope="module")
def quarry(tmp_path_factory: pytest.TempPathFactory) -> Generator[engine.Engine]:
    with engine.open(tmp_path_factory.mktemp("odd") / "data", agent="offline") as opened:
        opened.upsert("odd", [{"id": str(n), "body": text} for n, text in enumerate(TEXTS)])
        yield opened


@pytest.mark.parametrize("asked", QUESTIONS)
def test_an_odd_question_is_answered_or_not_found(quarry: engine.Engine, asked: str) -> None:
    found = quarry.search("odd", objective=asked[:2_000], context=asked[:2_000])
    assert found.status == "completed"
    assert found.synthesis
    for result in found.results:
        assert all(excerpt in TEXTS[int(result.id)] for excerpt in result.excerpts)
        assert all(len(excerpt) <= MAX_EXCERPT for excerpt in result.excerpts)


def test_the_work_of_a_question_is_bounded_however_many_it_asks(quarry: engine.Engine) -> None:
    found = quarry.search("odd", objective="How long is the bridge? " * 80, context="Who? " * 9_000)
    assert 0 < found.queries_executed <= MAX_QUERIES + 1


def test_any_follow_up_is_answered_or_not_found(quarry: engine.Engine) -> None:
    session = quarry.search("odd", objective="How long is the bridge?", context="notes").session_id
    for asked in QUESTIONS:
        found = quarry.continue_search("odd", session, message=asked[:2_000])
        assert found.status == "completed"
        assert found.synthesis


def test_a_thai_question_is_answered_from_a_thai_text(quarry: engine.Engine) -> None:
    found = quarry.search("odd", objective="สะพานเปิดใช้งานปีใด", context="สะพาน")
    assert "2430" in found.results[0].finding
