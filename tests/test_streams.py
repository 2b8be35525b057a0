"""Random streams: one draw per record, whatever other records are asked for with it, in whatever process."""

import pickle

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import celosia
from celosia.streams import Stream

IDS = st.lists(st.integers(0, 2**62), min_size=1, max_size=20)


@given(IDS, st.integers(0, 2**128))
def test_a_record_draws_what_numpy_draws_at_its_counter(ids, seed):
    stream = Stream(seed)
    key = np.frombuffer(stream.key()[:16], dtype=np.uint64)
    alone = [np.random.Philox(key=key, counter=i).random_raw(4) for i in ids]
    assert (stream.words(np.array(ids)) == np.array(alone)).all()


def test_records_that_lie_far_apart_draw_what_they_draw_together():
    near = np.arange(1000)
    far = np.append(near[::100], 2**40)
    stream = Stream(7).child("noise")
    assert (stream.words(far)[:-1] == stream.words(near)[::100]).all()


def test_a_stream_goes_to_another_process_without_its_table():
    asked = []
    stream = Stream(3, content=lambda: asked.append(1) or b"digest").child("a")
    there = pickle.loads(pickle.dumps(stream))
    assert there.key() == stream.key() != Stream(3).child("a").key()
    asked.clear()
    there.key()
    assert not asked


def test_noise_depends_on_the_steps_before():
    """Equal noise on differently prepared columns would cancel out between two releases under one seed."""
    frame = pl.DataFrame({"pay": np.random.default_rng(1).normal(3000, 500, 400)})
    table = celosia.read(frame, celosia.Schema.of(quasi=["pay"]))
    noise = "noise(columns=[pay], p=0.1)"
    first, second = (
        celosia.protect(table, f"top-code(columns=[pay], value={value})", noise, seed=7).column("pay") - frame["pay"]
        for value in (9000, 9001)
    )
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.2
