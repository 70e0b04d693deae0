import threading

import pytest

from nit_kernel.runtime.pool import DaemonPool


def test_work_runs_in_daemon_threads_and_gives_its_value_or_error() -> None:
    pool = DaemonPool()
    assert pool.submit(lambda a, b=0: (a + b, threading.current_thread().daemon), 1, b=2).result(
        5
    ) == (3, True)
    assert isinstance(pool.submit(divmod, 1, 0).exception(5), ZeroDivisionError)
    pool.shutdown()


def test_as_many_threads_as_are_needed_at_once() -> None:
    pool = DaemonPool()
    gate = threading.Barrier(12)
    jobs = [pool.submit(gate.wait, 10) for _ in range(12)]
    assert sorted(job.result(10) for job in jobs) == list(range(12))
    pool.shutdown()


def test_idle_threads_are_used_again() -> None:
    pool = DaemonPool()
    names = {pool.submit(lambda: threading.current_thread().name).result(5) for _ in range(30)}
    assert len(names) < 10
    pool.shutdown()


def test_system_exit_in_a_thread_is_only_an_outcome() -> None:
    pool = DaemonPool()
    assert isinstance(pool.submit(lambda: exec("raise SystemExit(3)")).exception(5), SystemExit)
    assert pool.submit(lambda: "alive").result(5) == "alive"
    pool.shutdown()


def test_closed_pool_takes_no_work_and_drops_what_waits() -> None:
    pool = DaemonPool()
    pool.shutdown(cancel_futures=True)
    with pytest.raises(RuntimeError):
        pool.submit(int)
