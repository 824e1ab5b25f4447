"""
Scale features first
====================

178 wines of three cultivars, 13 chemical measurements, from scikit-learn. Proline runs from 278 to
1,680 and hue from 0.5 to 1.7, so without scaling proline alone decides. A warning says so.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from modeshift import StochasticMeanShift

X, y = load_wine(return_X_y=True, as_frame=True)
scaled = StandardScaler().fit_transform(X)
plane = PCA(2).fit_transform(scaled)

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    as_they_are = StochasticMeanShift(random_state=0).fit_predict(X)
print(caught[0].message)
same_spread = StochasticMeanShift(random_state=0).fit_predict(scaled)

# Picture: The wines on two principal axes, three times: without scaling the colours are mixed;
# with scaling there is a colour for each of three groups; the third panel has the true cultivars.
figure, axes = plt.subplots(1, 3, figsize=(11, 4), layout="constrained")
panels = {"as they are": as_they_are, "the same spread": same_spread, "true cultivars": y}
for ax, (name, labels) in zip(axes, panels.items(), strict=True):
    ax.scatter(*plane.T, c=labels % 10, cmap="tab10", vmax=9, s=14)
    ax.set_title(f"{name}: {labels.max() + 1}, ARI {adjusted_rand_score(y, labels):.2f}")
    ax.set(xticks=[], yticks=[], aspect="equal")
