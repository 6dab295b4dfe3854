"""Log-log plots of the results of several sizes, as SVG.

python -m benchmarks.peers.plot bench-results/peers.json docs/assets/peers.svg     needs matplotlib
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(source: Path, target: Path) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    # Text stays text, and the same figures give the same file.
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "quarry", "font.size": 9})
    from matplotlib import pyplot as plt

    sizes = json.loads(source.read_text())["sizes"]
    panels = (("hybrid", "hybrid, p50 ms"), ("vector", "vector, p50 ms"), ("text", "text, p50 ms"))
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True)
    for axis, (operation, title) in zip(axes, panels, strict=True):
        for system in sorted({name for held in sizes.values() for name in held}):
            points = [
                (int(n), held[system][operation]["p50_ms"])
                for n, held in sizes.items()
                if held.get(system, {}).get(operation)
            ]
            if points:
                axis.plot(*zip(*sorted(points), strict=True), marker="o", label=system)
        axis.set(xscale="log", yscale="log", title=title, xlabel="passages")
        axis.legend(frameon=False)
    figure.tight_layout()
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
