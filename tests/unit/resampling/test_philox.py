"""Philox: published known answers, and the same words from kernels and from arrays."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.compiled import kernel
from pipeline.resampling.philox import draw_words, philox, rounds


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
        ),
    ],
)
def test_philox_gives_the_published_known_answers(counter, key, words):
    assert philox(np.array(counter, np.uint32), np.array(key, np.uint32)).tolist() == words


@kernel
def words_of(key, replicate, words):
    for quad in range(len(words)):
        words[quad, 0], words[quad, 1], words[quad, 2], words[quad, 3] = rounds(np.uint64(quad), replicate, key)


@pytest.mark.parametrize("replicate", [0, 2**32 - 1, 2**32, 0x123456789ABCDEF0])
def test_the_rounds_of_kernels_are_the_words_of_the_readable_definition(replicate):
    key = 0xFEDCBA9876543210
    words = np.zeros((5, 4), np.uint64)
    words_of(np.uint64(key), np.uint64(replicate), words)
    assert words.reshape(-1).tolist() == draw_words(key, replicate, 5).tolist()
