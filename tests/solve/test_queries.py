"""Gradients from queries: their expectation, their draws, and what SSplain makes of them."""

import pytest
import torch
from torch import Tensor

import ssplain
from ssplain import SSplain, SSplainError
from ssplain.models import QueryOnly
from ssplain.solve import ByQueries, Term
from tests.explain.small import pictures, small


class Curved(Term):
    name = "curved"

    def value(self, masks: Tensor) -> Tensor:
        x = masks.flatten(1)
        return (x[:, 1:] * x[:, :-1]).sum(1) + x.square().sum(1)


def test_many_queries_tell_the_gradient() -> None:
    masks = torch.rand(2, 1, 3, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    value, exact = Curved().value_and_gradient(masks)
    told, estimate = ByQueries(Curved(), queries=20_000, cell=1).value_and_gradient(masks)
    torch.testing.assert_close(told, value)
    torch.testing.assert_close(estimate, exact, atol=0.1, rtol=0.05)


def test_cells_share_their_sign_and_the_grid_moves() -> None:
    term, generator = ByQueries(Curved(), cell=3), torch.Generator().manual_seed(0)
    seen = set()
    for _ in range(40):
        signs = term._signs(torch.zeros(1, 1, 9, 9), generator)[0, 0]
        assert set(signs.flatten().tolist()) <= {-1.0, 1.0}
        edges = (signs[:, 1:] != signs[:, :-1]).any(0).nonzero().flatten() % 3
        assert len(set(edges.tolist())) <= 1
        seen |= set(edges.tolist())
    assert seen == {0, 1, 2}


def test_each_iteration_has_its_own_draws_and_a_seed_gives_them_again() -> None:
    masks = torch.rand(1, 1, 6, 6)

    def drawn(seed: int, iteration: int) -> Tensor:
        term = ByQueries(Curved(), queries=3, seed=seed).at(iteration)
        return term.value_and_gradient(masks)[1]

    assert torch.equal(drawn(1, 2), drawn(1, 2))
    assert not torch.equal(drawn(1, 2), drawn(1, 3))
    assert not torch.equal(drawn(1, 2), drawn(2, 2))


class TestSSplain:
    def test_a_query_only_model_is_explained_and_counted(self) -> None:
        model = QueryOnly(small())
        explainer = SSplain(model, iterations=4, queries=10)
        result = explainer.explain(pictures(), 1)
        look, company = 3, 6  # each image once; then whether its neighbours change an answer
        assert model.spent == look + company + 3 * 4 * (2 * 10 + 1)
        assert result.settings["queries"] == 10
        assert SSplain(model).queries == 50
        assert SSplain(small()).queries is None

    @pytest.mark.parametrize("objective", ["preserve", "ranking"])
    def test_nothing_depends_on_the_batch(self, objective: str) -> None:
        def maps(images: Tensor, batch_size: int | None) -> Tensor:
            return SSplain(
                QueryOnly(small()),
                iterations=4,
                queries=5,
                objective=objective,  # type: ignore[arg-type]
                batch_size=batch_size,
            ).attribute(images, 1)

        together = maps(pictures(), None)
        torch.testing.assert_close(together, maps(pictures(), 2))
        torch.testing.assert_close(together[2:], maps(pictures()[2], None))

    def test_as_good_as_the_gradient_on_digits(self) -> None:
        """Settled before: the area under insertion is at most .05 below the exact gradient's."""
        net = ssplain.models.load("lenet5-mnist")
        images, labels = (values[:6] for values in ssplain.data.bundled("mnist"))
        areas = []
        for model in (net, QueryOnly(net)):
            explainer = SSplain(model, **ssplain.preset("mnist"), batch_size=6)
            maps = explainer.attribute(images, labels)
            curves = ssplain.metrics.insertion_deletion(net, images, labels, maps, axis="support")
            areas.append(curves.insertion.area)
        assert areas[1] > areas[0] - 0.05

    def test_wrong_counts_are_named(self) -> None:
        with pytest.raises(SSplainError, match="queries=0 does not work"):
            SSplain(small(), queries=0)
