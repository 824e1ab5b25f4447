"""
The paper's numbers against 100 seeds
=====================================

Published numbers beside our own (`make paper`, kept in docs/paper). Each bar is the central 95% of
100 seeds, the dot their median, the cross the published number; a cross in a circle lies outside.
D is the deterministic algorithm, S the stochastic one. :doc:`/paper` has all numbers.
"""

from pathlib import Path

from modeshift.paper import figures, setting
from modeshift.paper.store import read_results

results = read_results(Path("../../paper/results.json.gz"))
# Picture: Seven panels, one for each column of the paper's tables, with a bar for each set and
# algorithm and a cross for the published number. Most crosses lie on their bars.
figures.spread(results)

# %%
# The paper's figure of ten points, as a real run: above each point climbs over points that stay
# where they are; below one random point at a time takes one step and stays there.

# Picture: Paths of ten points. Deterministic paths end at several places; stochastic ones at two,
# and the numbers give the order of their first steps.
figures.schematic()

# %%
# Over the bandwidth:

# Picture: G, K and number of clusters over the bandwidth for each of the seven sets, with a curve
# for each algorithm and a line at the calibrated bandwidth.
figures.bandwidth(results, setting.load_settings())
