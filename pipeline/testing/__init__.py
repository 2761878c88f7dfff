"""Contract suites that a plugin's tests inherit: what the package relies on, as tests.

A metric's author writes::

    class TestMyMetric(MetricContract):
        def example(self) -> MetricExample:
            return MetricExample(metric=MyMetric(), gold=..., better=..., worse=...)

and a trainer's or a reader's likewise, with `TrainerContract` and `TrainerExample`, `ReaderContract` and `ReaderExample`.
"""

from pipeline.testing.metrics import MetricContract, MetricExample, take_items
from pipeline.testing.readers import ReaderContract, ReaderExample, check_items
from pipeline.testing.trainers import TrainerContract, TrainerExample, take_training_items

__all__ = [
    "MetricContract",
    "MetricExample",
    "ReaderContract",
    "ReaderExample",
    "TrainerContract",
    "TrainerExample",
    "check_items",
    "take_items",
    "take_training_items",
]
