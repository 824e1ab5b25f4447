"""The choice of cases that stand for a full product."""

from itertools import combinations, product

import pytest

from covering import covering


@pytest.mark.parametrize("strength", [2, 3])
@pytest.mark.parametrize("sizes", [(1,), (4,), (2, 3), (2, 2, 2), (3, 3, 4, 10, 4), (5, 1, 2)])
def test_every_pair_of_values_occurs(sizes, strength):
    cases = list(product(*map(range, sizes)))
    chosen = covering(cases, strength)
    for places in combinations(range(len(sizes)), min(strength, len(sizes))):
        values = {tuple(case[place] for place in places) for case in cases}
        assert {tuple(cases[i][place] for place in places) for i in chosen} == values
    assert chosen == covering(cases, strength)


def test_there_are_few_of_them():
    cases = list(product(range(3), range(3), range(4), range(10), range(4)))
    assert len(covering(cases)) <= 50  # of 1440; fewer than 10 * 4 cannot be


def test_cases_need_not_be_a_full_product():
    assert covering([(0, 0), (1, 1), (0, 0)]) == {0, 1}
    assert covering([]) == set()
