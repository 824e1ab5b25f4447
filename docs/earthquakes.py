"""Clusters of a live feed of earthquakes: ``python docs/earthquakes.py``.

The U.S. Geological Survey publishes the earthquakes of the past hour as GeoJSON, renewed every
minute. The new ones are added to a stream, in which an earthquake counts half after 1,000 others.
"""

import json
from time import sleep
from urllib.request import urlopen

from modeshift import MeanShift

FEED = "https://earthquake.usgs.gov/earthquakes/feed/v1.0/summary/all_hour.geojson"
KILOMETRES = 200
HALF_LIFE = 1000
SHOWN = 5


def watch(feed=FEED, pause=60.0, rounds=None):
    """Add new earthquakes to the stream and print its clusters, for ever or for some rounds."""
    model = MeanShift(bandwidth=KILOMETRES, metric="haversine", resolution=8)
    known = {}
    while rounds is None or rounds > 0:
        now = read(feed)
        new = [place for name, place in now.items() if name not in known]
        known = now
        if new:
            model.partial_fit(new, half_life=HALF_LIFE)
            print(f"{len(new)} new, {model.n_samples_seen_} in all; the largest clusters:")
            for latitude, longitude in model.cluster_centers_[:SHOWN]:
                print(f"    {latitude:8.2f} {longitude:8.2f}", flush=True)
        rounds = None if rounds is None else rounds - 1
        sleep(pause)


def read(feed):
    """Return latitude and longitude of each earthquake of a feed, by its name."""
    with urlopen(feed, timeout=30) as answer:
        features = json.load(answer)["features"]
    return {each["id"]: each["geometry"]["coordinates"][1::-1] for each in features}


if __name__ == "__main__":
    watch()
