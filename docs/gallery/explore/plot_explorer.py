"""
The explorer: slide the bandwidth
=================================

The points of a fit, and all other bandwidths that were tried. Slide, and clusters, tree and score
follow. Set 1 of the paper, 750 points around three middles.
"""

# sphinx_gallery_thumbnail_path = "images/explorer.png"
from modeshift import StochasticMeanShift, datasets, report

X, _ = datasets.make_paper_set(1, random_state=0)
camera = report.Camera()  # films the climb
model = StochasticMeanShift(random_state=0).set_callbacks(camera).fit(X)
explorer = report.explore(model, X, camera=camera)
# Picture: The explorer of 750 points. The fit has three clusters.
explorer

# %%
# **What to try.** Slide left until the clusters break. Press *Play* and see how points climb. Press
# *lasso*, draw around some points, and read them in the list below the picture. *Take* gives the
# line of code for the bandwidth that you like.
#
# In a notebook *Take* also sets that bandwidth on ``model``, so that ``model.fit(X)`` fits it, and
# ``X[explorer.selected]`` are the points in the lasso. The notebook of this page is below.
