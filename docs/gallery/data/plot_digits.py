"""
Handwritten digits
==================

1,797 small pictures of digits, 8 by 8 pixels, from scikit-learn. The number of digits is unknown to
the fit. Principal components come first, because most pixels are noise or empty. Below is the mean
of each cluster, the largest first.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from modeshift import StochasticMeanShift

X, y = load_digits(return_X_y=True)
model = StochasticMeanShift(random_state=0).fit(PCA(20, random_state=0).fit_transform(X))
labels = model.labels_
print(f"{len(model.cluster_centers_)} clusters, ARI {adjusted_rand_score(y, labels):.2f}")

# Picture: The mean picture of each of the largest clusters. Each looks like one digit; its title
# has the commonest digit and its share.
figure, axes = plt.subplots(2, 6, figsize=(9, 3.8), layout="constrained")
for k, ax in enumerate(axes.flat):
    ax.set_axis_off()
    if k <= labels.max():
        inside = labels == k
        counts = np.bincount(y[inside], minlength=10)
        ax.imshow(X[inside].mean(axis=0).reshape(8, 8), cmap="gray_r")
        ax.set_title(f"{counts.argmax()}: {counts.max() / inside.sum():.0%} of {inside.sum()}")
