"""Settings of all tests: hypothesis profiles, figures without a screen, kernels compiled once."""

import os
import signal

import hypothesis

os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # each core has a worker; more threads would be in their way
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell that runs tests in the background ignores Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)
hypothesis.settings.register_profile("dev", max_examples=10, deadline=None)
hypothesis.settings.register_profile("ci", max_examples=50, deadline=None, derandomize=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


def pytest_configure(config):
    """Compile the kernels before workers start.

    Two workers that compile the same kernel at the same time waste that time, and their results may differ in the last
    bit, since sums may be reordered; loaded from the cache they are the same everywhere.
    """
    if hasattr(config, "workerinput"):
        return
    import porthos as ph

    model = ph.Model("warm-up")
    model.body("bob", ph.Sphere(1.0, 0.1), position=(1.0, 0.0, 0.0))
    model.spherical("pivot", model.ground, "bob", at=(0.0, 0.0, 0.0))
    for scheme in (ph.Midpoint(), ph.MidpointGGL()):
        run = ph.simulate(model, scheme, 0.01, 0.02)
        run.summary()
        assert run.joint("pivot").force.shape == (3, 3)
