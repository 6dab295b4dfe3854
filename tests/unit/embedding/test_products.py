import numpy as np
import pytest

from engine.embedding.products import product


@pytest.mark.parametrize(
    "shape", [(0, 256, 256), (1, 256, 256), (20, 256, 256), (333, 256, 10), (40, 7, 130), (1_100, 256, 256)]
)
def test_a_product_in_pieces_is_the_product(shape: tuple[int, int, int]) -> None:
    count, depth, width = shape
    draw = np.random.default_rng(1)
    rows, columns = (draw.standard_normal(s, dtype=np.float32) for s in ((count, depth), (width, depth)))
    np.testing.assert_allclose(product(rows, columns.T), rows @ columns.T, atol=1e-3)
