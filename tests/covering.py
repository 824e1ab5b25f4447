"""Full products of parameters are long: a few of their cases have all pairs of values.

A test with ``@pytest.mark.product`` runs, in make test, with cases in which every two values of any
two parameters occur together; with ``@pytest.mark.product(3)``, every three. make slow runs the
other cases.
"""

from itertools import combinations


def covering(cases, strength=2):
    """Choose cases in which all pairs of values occur that occur in any case.

    Parameters
    ----------
    cases : list of tuple
        The value of each parameter, case by case. Values are hashable.
    strength : int
        2 for pairs, 3 for triples.

    Returns
    -------
    set of int
        Indices of the chosen cases: always the same ones.
    """
    groups = [set(_groups(case, strength)) for case in cases]
    missing = set().union(*groups)
    chosen = set()
    while missing:
        best = max(range(len(cases)), key=lambda i: len(groups[i] & missing))  # the first of equals
        chosen.add(best)
        missing -= groups[best]
    return chosen


def _groups(case, strength):
    """Return the groups of values, with their places."""
    return combinations(enumerate(case), min(strength, len(case)))


def mark_the_rest(items, mark):
    """Add a mark to the items of each product that are not chosen."""
    products = {}
    for item in items:
        marker = item.get_closest_marker("product")
        if marker:
            key = (item.path, item.originalname, marker.args)
            products.setdefault(key, []).append(item)
    for (*_, strength), product in products.items():
        cases = [tuple(map(repr, item.callspec.params.values())) for item in product]
        chosen = covering(cases, *strength)
        for index, item in enumerate(product):
            if index not in chosen:
                item.add_marker(mark)
