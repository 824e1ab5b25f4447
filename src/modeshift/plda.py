"""The score of two-covariance PLDA, and the coordinates in which it is a distance.

PLDA (probabilistic linear discriminant analysis) models a vector as speaker plus noise: x = y + e,
with y ~ N(mu, B) once for each speaker and e ~ N(0, W) for each vector. The score of two vectors is
the log-likelihood ratio "same speaker" against "different speakers". If V diagonalises both
covariances, V'WV = 1 and V'BV = diag(psi), then with z = V'(x - mu)

    LLR(x, y) = c0 + g(x) + g(y) - |u(x) - u(y)|^2 / 2,    u_i = z_i sqrt(psi_i / (1 + 2 psi_i)),
    g(x) = sum_i u_i^2 / (1 + psi_i) / 2,    c0 = sum_i [log(1 + psi_i) - log(1 + 2 psi_i) / 2].

:class:`PLDAMetric` is the trained model as plain data. :mod:`modeshift.speech` trains it.
"""
