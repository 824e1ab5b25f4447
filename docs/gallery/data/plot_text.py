"""
Text: what scikit-learn's classes are about
===========================================

The docstrings of scikit-learn's public classes become vectors: counts of words (TF-IDF), and from
these 50 dimensions by a truncated SVD. Only directions matter, so the metric is cosine. The words
printed are the most typical of each cluster.
"""

import inspect

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.manifold import TSNE
from sklearn.utils import all_estimators

from modeshift import MeanShift

classes = [(name, inspect.getdoc(each)) for name, each in all_estimators()]
names = [name for name, text in classes]
words = TfidfVectorizer(stop_words="english", token_pattern=r"[a-z]{3,}", max_df=0.3, min_df=3)
counts = words.fit_transform([text for name, text in classes])
vectors = TruncatedSVD(50, random_state=0).fit_transform(counts)

model = MeanShift(metric="cosine").fit(vectors)
labels = model.labels_
vocabulary = words.get_feature_names_out()
plane = TSNE(metric="cosine", perplexity=12, random_state=0).fit_transform(vectors)

# Picture: Each class is a dot in a plane in which similar texts are near. Dots of one cluster have
# one colour, and words typical of the largest clusters are written at their middles.
figure, ax = plt.subplots(figsize=(9, 7.5), layout="constrained")
ax.scatter(*plane.T, c=labels % 20, cmap="tab20", s=22)
for k in range(10):
    inside = labels == k
    weight = np.asarray(counts[inside].mean(axis=0)).ravel()
    typical = vocabulary[weight.argsort()[::-1][:3]]
    some = ", ".join(np.array(names)[inside][:3])
    print(f"{inside.sum():3d} classes: {', '.join(typical)}, such as {some}")
    place = np.median(plane[inside], axis=0)
    label = {"boxstyle": "round", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    ax.text(*place, ", ".join(typical), ha="center", va="center", bbox=label)
ax.set(xticks=[], yticks=[], title=f"{len(names)} classes in {labels.max() + 1} clusters")
