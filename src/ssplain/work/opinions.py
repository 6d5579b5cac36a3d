"""What the model says of the pixels in an image's mask alone, and of the others without them."""

from functools import cache, partial

from ssplain.explain import Explanation, SSplain
from ssplain.metrics import kept_and_removed

Opinion = dict[str, float]


class Opinions:
    """The opinions of a batch, asked for together when the first of them is wanted.

    Where that fails each image is asked about alone, so that one at fault fails by itself.

    Args:
        explainer: by which the images were explained.
        result: what it returned.
    """

    def __init__(self, explainer: SSplain, result: Explanation) -> None:
        self._ask = partial(_ask, explainer)
        self._result = result
        self._together = cache(self._of_all)

    def of(self, row: int) -> Opinion:
        """Return the opinion of one image."""
        known = self._together()
        return self._ask(self._result[row])[0] if known is None else known[row]

    def _of_all(self) -> list[Opinion] | None:
        try:
            return self._ask(self._result)
        except Exception:  # noqa: BLE001 - whose fault it is comes out one by one
            return None


def _ask(explainer: SSplain, result: Explanation) -> list[Opinion]:
    kept = kept_and_removed(
        explainer.classifier.model,
        result,
        output=explainer.classifier.output,
        output_kind=explainer.classifier.output_kind,
        fill=explainer.door.fill,
    )
    return [
        {"probability_only_mask": only, "probability_without_mask": without}
        for only, without in zip(kept.only.tolist(), kept.without.tolist(), strict=True)
    ]
