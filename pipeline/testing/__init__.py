"""Contract suites that a plugin's tests inherit. This module says, as tests, what the package relies on.

A metric's author writes::

    class TestMyMetric(MetricContract):
        def example(self) -> MetricExample:
            return MetricExample(metric=MyMetric(), gold=..., better=..., worse=...)

and a trainer's likewise, with `TrainerContract` and `TrainerExample`.
"""

from pipeline.testing.metrics import MetricContract, MetricExample, take_items
from pipeline.testing.trainers import TrainerContract, TrainerExample, take_training_items

__all__ = [
    "MetricContract",
    "MetricExample",
    "TrainerContract",
    "TrainerExample",
    "take_items",
    "take_training_items",
]
