from pathlib import Path

import numpy as np

from ssplain.data.bundle import bundle


def test_bundle_keeps_the_first_test_images(tmp_path: Path) -> None:
    images = np.random.default_rng(0).integers(0, 256, (5, 28, 28), dtype=np.uint8)
    header = bytes([0, 0, 8, 3, 0, 0, 0, 5, 0, 0, 0, 28, 0, 0, 0, 28])
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(header + images.tobytes())
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(
        bytes([0, 0, 8, 1, 0, 0, 0, 5, 3, 1, 4, 1, 5])
    )
    path = bundle("fmnist", tmp_path, tmp_path, count=3)
    assert path.name == "fmnist.npz"
    with np.load(path, allow_pickle=False) as stored:
        np.testing.assert_array_equal(stored["images"], images[:3])
        assert stored["labels"].tolist() == [3, 1, 4]
    first = path.read_bytes()
    assert bundle("fmnist", tmp_path, tmp_path, count=3).read_bytes() == first
