"""What an explanation holds, and how it is kept."""

import json
from pathlib import Path

import pytest
import torch
from torch import nn

from ssplain import Explanation, SSplain, SSplainError
from tests.explain.small import sparse_images, tiny


class TestResult:
    @pytest.mark.parametrize("norm", ["l0", "l1"])
    def test_mask_is_feasible(self, norm: str) -> None:
        images = sparse_images()
        result = SSplain(tiny(), norm=norm, budget=0.3).explain(images)  # type: ignore[arg-type]
        assert not bool((result.mask != 0)[~result.support].any())
        assert float(result.mask.min()) >= 0
        assert float(result.mask.max()) <= 1
        size = result.support.flatten(1).sum(1)
        if norm == "l0":
            assert bool(((result.mask != 0).flatten(1).sum(1) <= 0.3 * size).all())
        else:
            for scores, mask, inside in zip(
                result.scores, result.mask, result.support, strict=True
            ):
                largest = scores[inside].sort(descending=True).values
                radius = largest[: int(0.3 * int(inside.sum()))].sum().clamp(min=0)
                assert float(mask.sum()) <= float(radius) + 1e-4

    def test_everything_outside_the_support_ranks_last(self) -> None:
        result = SSplain(tiny(), lr=0.3).explain(sparse_images())
        for scores, inside in zip(result.scores, result.support, strict=True):
            assert float(scores[~inside].max()) < float(scores[inside].min())
        assert float(result.scores.min()) < 0  # the case where zero would not do

    def test_outside_is_zero_where_that_ranks_last(self) -> None:
        result = SSplain(tiny(), lr=1e-4, iterations=1).explain(sparse_images())
        assert float(result.scores[~result.support].abs().max()) == 0

    def test_top_marks_a_share_of_all_pixels_within_the_support(self) -> None:
        result = SSplain(tiny()).explain(sparse_images())
        top = result.top(0.1)
        assert top.flatten(1).sum(1).tolist() == [round(0.1 * 63)] * 4
        for chosen, scores in zip(top, result.scores, strict=True):
            assert float(scores[chosen].min()) >= float(scores[~chosen].max())
        assert torch.equal(result.top(1.0), result.support)
        with pytest.raises(SSplainError, match=r"share=1\.5"):
            result.top(1.5)

    def test_history_tells_objective_and_residuals(self) -> None:
        images = sparse_images()
        model = tiny()
        result = SSplain(model, iterations=7).explain(images, 1)
        history = result.history
        assert history.primal.shape == history.dual.shape == history.objective.shape == (4, 7)
        start = images / images.amax((1, 2, 3), keepdim=True)
        loss = nn.functional.cross_entropy(
            model(images * start), torch.ones(4, dtype=torch.long), reduction="none"
        )
        torch.testing.assert_close(history.terms["loss"][:, 0], loss.detach())
        total = history.terms["loss"] + history.terms["total_variation"]
        torch.testing.assert_close(history.objective, total)

    def test_save_and_load(self, tmp_path: Path) -> None:
        result = SSplain(tiny()).explain(sparse_images(), "posterior")
        result.save(tmp_path / "out")
        again = Explanation.load(tmp_path / "out")
        for name in ("images", "support", "scores", "mask", "target", "probabilities"):
            assert torch.equal(getattr(again, name), getattr(result, name))
        assert torch.equal(again.history.objective, result.history.objective)
        assert again.settings == result.settings
        assert again.settings["target"] == "posterior"
        assert sorted(p.name for p in tmp_path.rglob("*")) == [
            "explanation.npz",
            "manifest.json",
            "out",
        ]

    def test_same_call_gives_same_bytes(self, tmp_path: Path) -> None:
        for name in ("a", "b"):
            SSplain(tiny(), start="random", seed=3).explain(sparse_images()).save(tmp_path / name)
        for file in ("explanation.npz", "manifest.json"):
            assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()

    def test_manifest_changes_with_model_and_image(self) -> None:
        images = sparse_images()
        manifest = SSplain(tiny()).explain(images).manifest()
        other = tiny()
        with torch.no_grad():
            other[0].bias[0] += 1  # type: ignore[index]
        changed = SSplain(other).explain(images + (images > 0) * 0.01).manifest()
        assert manifest["settings"]["model"]["sha256"] != changed["settings"]["model"]["sha256"]
        assert set(manifest["images"]).isdisjoint(changed["images"])
        json.dumps(manifest)

    @pytest.mark.parametrize("damage", ["missing", "truncated", "manifest", "format"])
    def test_loading_damaged_folder_is_one_sentence(self, tmp_path: Path, damage: str) -> None:
        folder = tmp_path / "out"
        SSplain(tiny()).explain(sparse_images()).save(folder)
        if damage == "missing":
            (folder / "explanation.npz").unlink()
        elif damage == "truncated":
            content = (folder / "explanation.npz").read_bytes()
            (folder / "explanation.npz").write_bytes(content[: len(content) // 2])
        elif damage == "manifest":
            (folder / "manifest.json").write_text("{")
        else:
            (folder / "manifest.json").write_text('{"format": 99, "settings": {}}')
        with pytest.raises(SSplainError, match=r"explain(ed)? |explanation"):
            Explanation.load(folder)

    def test_one_of_many(self) -> None:
        result = SSplain(tiny()).explain(sparse_images())
        assert [float(r.scores.sum()) for r in result] == result.scores.flatten(1).sum(1).tolist()
        assert torch.equal(result[-1].mask, result.mask[3:])
        with pytest.raises(IndexError):
            result[4]
