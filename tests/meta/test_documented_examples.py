"""Python examples of the README and the pages run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_FENCED = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/library.md", "docs/assistants.md", "docs/agent.md"])
def test_examples_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examples = _FENCED.findall((ROOT / page).read_text())
    assert examples
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    # One page is one session: later examples go on where earlier ones stopped.
    exec(compile("\n".join(examples), page, "exec"), {"__name__": "__main__"})
