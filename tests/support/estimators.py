"""Estimators that fail when a test says so, imported by the training task through their path."""

from __future__ import annotations

import os

from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB


class FailsWhenTold(DummyClassifier):
    """A classifier whose training breaks while the environment variable FAIL_TRAINING is set."""

    def fit(self, X, y, sample_weight=None):
        if os.environ.get("FAIL_TRAINING"):
            raise FloatingPointError("the loss is not a number")
        return super().fit(X, y, sample_weight)


class Fails(DummyClassifier):
    """A classifier whose training always breaks."""

    def fit(self, X, y, sample_weight=None):
        raise FloatingPointError("the loss is not a number")


class Sound(GaussianNB):
    """A classifier that always works."""
