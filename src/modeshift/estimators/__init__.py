"""The estimators: scikit-learn's conventions around the engines."""
