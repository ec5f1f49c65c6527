"""How a peer's program tells the runner what it found: `ok - NAME` or `not ok - NAME: WHY` a check, `done` at its end."""
import traceback
from contextlib import asynccontextmanager


@asynccontextmanager
async def check(name):
    """A check passes when its block ends, and fails with what the block raises."""
    try:
        yield
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1].lineno
        print(f"not ok - {name}: {type(error).__name__} {error} (line {where})".replace("\n", " "), flush=True)
    else:
        print(f"ok - {name}", flush=True)


def equal(actual, expected):
    if actual != expected:
        raise AssertionError(f"expected {expected!r}, got {actual!r}")


def truthy(value, message):
    if not value:
        raise AssertionError(message)


def done():
    print("done", flush=True)
