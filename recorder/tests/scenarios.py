"""Training jobs of many kinds in one process; prints for each the bits of what it computed.

`python scenarios.py DIRECTORY` prints one line for each scenario, `python scenarios.py --list` their names.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Any, Callable, Iterable

SCENARIOS: dict[str, Callable[[Any, Path], Iterable[Any]]] = {}
STEPS = 6


def scenario(function: Any) -> Any:
    """Add a function to the scenarios; it returns the arrays that must not change."""
    SCENARIOS[function.__name__] = function
    return function


def rows(tf: Any, count: int = 64) -> Any:
    """Return features and targets."""
    x = tf.random.stateless_uniform([count, 8], seed=(1, 2))
    return x, tf.reduce_sum(x, 1, keepdims=True)


def dataset(tf: Any) -> Any:
    """Return a seeded, shuffled dataset of batches."""
    return tf.data.Dataset.from_tensor_slices(rows(tf)).shuffle(64, seed=3).batch(8).repeat()


def loop(tf: Any, data: Any, *, wrap: Any = None, steps: int = STEPS) -> list[Any]:
    """Train a linear model by a custom loop, and return its losses and weights."""
    weights = tf.Variable(tf.random.normal([8, 1]))

    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.matmul(x, weights) - y) ** 2)
        weights.assign_sub(0.05 * tape.gradient(loss, weights))
        return loss

    made = (wrap or tf.function)(step)
    return [*(made(*batch) for batch in data.take(steps)), weights]


def fitted(tf: Any, model: Any, data: Any = None, *, metrics: Any = None, **named: Any) -> list[Any]:
    """Train a Keras model by `fit`, and return its losses and weights."""
    model.compile(tf.keras.optimizers.Adam(0.01), "mse", metrics=metrics)
    data = dataset(tf) if data is None else data
    history = model.fit(data, epochs=2, steps_per_epoch=4, verbose=0, **named)
    return [*(value for values in history.history.values() for value in values), *model.get_weights()]


def dense(tf: Any, *layers: Any) -> Any:
    """Return a Keras model of some layers and an output."""
    first = tf.keras.layers.Dense(6, activation="relu")
    return tf.keras.Sequential([tf.keras.Input((8,)), first, *layers, tf.keras.layers.Dense(1)])


@scenario
def compiled_loop(tf: Any, _path: Path) -> list[Any]:
    """One tf.function."""
    return loop(tf, dataset(tf))


@scenario
def eager_loop(tf: Any, _path: Path) -> list[Any]:
    """No tf.function."""
    return loop(tf, dataset(tf), wrap=lambda step: step)


@scenario
def nested_functions(tf: Any, _path: Path) -> list[Any]:
    """A tf.function that calls another one."""
    return loop(tf, dataset(tf), wrap=lambda step: tf.function(lambda x, y: tf.function(step)(x, y)))


@scenario
def by_xla(tf: Any, _path: Path) -> list[Any]:
    """A tf.function that XLA compiles."""
    return loop(tf, dataset(tf), wrap=lambda step: tf.function(step, jit_compile=True))


@scenario
def many_shapes(tf: Any, _path: Path) -> list[Any]:
    """A tf.function that is traced again for each shape."""
    parts = [tf.data.Dataset.from_tensors(rows(tf, count)) for count in (8, 5, 3, 8)]
    data = parts[0].concatenate(parts[3])
    return [*loop(tf, data), *loop(tf, parts[1]), *loop(tf, parts[2])]


@scenario
def loop_in_the_graph(tf: Any, _path: Path) -> list[Any]:
    """The steps run inside of one tf.function."""
    weights, data = tf.Variable(tf.random.normal([8, 1])), dataset(tf)

    def train() -> Any:
        for x, y in data.take(STEPS):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((tf.matmul(x, weights) - y) ** 2)
            weights.assign_sub(0.05 * tape.gradient(loss, weights))
        return weights

    return [tf.function(train)()]


@scenario
def seeded_random_data(tf: Any, _path: Path) -> list[Any]:
    """Random numbers inside of the input pipeline."""
    noisy = dataset(tf).map(lambda x, y: (x + tf.random.uniform([8, 8], seed=5), y))
    return loop(tf, noisy)


@scenario
def unseeded_shuffle(tf: Any, _path: Path) -> list[Any]:
    """The order follows from the global seed, and from how many operations were made before."""
    data = tf.data.Dataset.from_tensor_slices(rows(tf)).shuffle(64).batch(8).repeat()
    return loop(tf, data)


@scenario
def reshuffled_epochs(tf: Any, _path: Path) -> list[Any]:
    """A second pass over a dataset has another order."""
    data = tf.data.Dataset.range(20).shuffle(20, seed=9, reshuffle_each_iteration=True)
    return [*data, *data]


@scenario
def python_generator(tf: Any, _path: Path) -> list[Any]:
    """Data of a Python generator that counts how often it is asked."""
    asked: list[int] = []

    def generate() -> Any:
        for number in range(STEPS):
            asked.append(number)
            yield [float(number)] * 8, [float(number)]

    kinds = (tf.TensorSpec([8]), tf.TensorSpec([1]))
    data = tf.data.Dataset.from_generator(generate, output_signature=kinds).batch(1)
    return [*loop(tf, data), len(asked)]


@scenario
def text_files(tf: Any, path: Path) -> list[Any]:
    """Lines of two files, read in turn."""
    for name in ("a", "b"):
        (path / name).write_text("".join(f"{name}{number}\n" for number in range(9)))
    files = tf.data.Dataset.from_tensor_slices([str(path / "a"), str(path / "b")])
    return [*files.interleave(lambda file: tf.data.TextLineDataset(file), cycle_length=2)]


@scenario
def distributed_loop(tf: Any, _path: Path) -> list[Any]:
    """Two replicas in one process."""
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        weights = tf.Variable(tf.random.normal([8, 1]))
    batches = iter(strategy.experimental_distribute_dataset(dataset(tf)))

    def replica(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.matmul(x, weights) - y) ** 2)
        gradient = tf.distribute.get_replica_context().all_reduce("mean", tape.gradient(loss, weights))
        weights.assign_sub(0.05 * gradient)
        return loss

    step = tf.function(lambda batch: strategy.reduce("mean", strategy.run(replica, batch), axis=None))
    return [*(step(next(batches)) for _ in range(STEPS)), weights.read_value()]


@scenario
def fit(tf: Any, _path: Path) -> list[Any]:
    """Keras on a dataset."""
    return fitted(tf, dense(tf))


@scenario
def fit_arrays(tf: Any, _path: Path) -> list[Any]:
    """Keras on NumPy arrays, which it shuffles by NumPy's global seed or TensorFlow's."""
    model = dense(tf)
    model.compile("sgd", "mse")
    x, y = rows(tf)
    return [*model.fit(x.numpy(), y.numpy(), epochs=2, batch_size=16, verbose=0).history["loss"]]


@scenario
def dropout(tf: Any, _path: Path) -> list[Any]:
    """Random numbers inside of the training graph."""
    return fitted(tf, dense(tf, tf.keras.layers.Dropout(0.3)))


@scenario
def random_in_the_graph(tf: Any, _path: Path) -> list[Any]:
    """Random operations whose seeds follow from their number in the graph."""
    return [tf.function(lambda: (tf.random.normal([3]), tf.random.uniform([3])))() for _ in range(3)]


@scenario
def batch_normalization(tf: Any, _path: Path) -> list[Any]:
    """Weights that are not trained change too."""
    return fitted(tf, dense(tf, tf.keras.layers.BatchNormalization()))


@scenario
def validation(tf: Any, _path: Path) -> list[Any]:
    """Evaluation after each epoch."""
    return fitted(tf, dense(tf), metrics=["mae"], validation_data=dataset(tf), validation_steps=2)


@scenario
def callbacks(tf: Any, path: Path) -> list[Any]:
    """Early stopping, a schedule, a log."""
    stop = tf.keras.callbacks.EarlyStopping("loss", patience=0)
    schedule = tf.keras.callbacks.LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1))
    log = tf.keras.callbacks.CSVLogger(str(path / "log.csv"))
    results = fitted(tf, dense(tf), callbacks=[stop, schedule, log])
    return [*results, (path / "log.csv").read_text()]


@scenario
def own_train_step(tf: Any, _path: Path) -> list[Any]:
    """A model that overrides `train_step`."""

    class Model(tf.keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.layer = tf.keras.layers.Dense(1)

        def call(self, x: Any) -> Any:
            return self.layer(x)

        def train_step(self, data: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((self(data[0]) - data[1]) ** 2)
            variables = self.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            return {"loss": loss}

    return fitted(tf, Model())


@scenario
def recurrent(tf: Any, _path: Path) -> list[Any]:
    """A loop inside of the graph that Keras makes."""
    layers = [tf.keras.Input((8,)), tf.keras.layers.Reshape((4, 2)), tf.keras.layers.GRU(3)]
    return fitted(tf, tf.keras.Sequential([*layers, tf.keras.layers.Dense(1)]))


@scenario
def prediction(tf: Any, _path: Path) -> list[Any]:
    """Evaluation and prediction of a model that is not trained."""
    model = dense(tf)
    model.compile("sgd", "mse")
    return [model.evaluate(dataset(tf), steps=2, verbose=0), model.predict(rows(tf)[0], verbose=0)]


@scenario
def checkpoint(tf: Any, path: Path) -> list[Any]:
    """Weights and the place in the data, saved and restored."""
    weights, batches = tf.Variable(tf.random.normal([3])), iter(tf.data.Dataset.range(20).batch(2))
    next(batches)
    saved = tf.train.Checkpoint(weights=weights, batches=batches)
    where = saved.save(str(path / "checkpoint"))
    weights.assign([0.0, 0.0, 0.0])
    next(batches)
    saved.restore(where)
    return [weights, next(batches)]


def bits(values: Iterable[Any]) -> str:
    """Return a digest of all bits of some tensors, arrays and numbers."""
    import numpy as np
    import tensorflow as tf

    digest = hashlib.sha256()
    for value in tf.nest.flatten(list(values)):
        array = np.asarray(value)
        digest.update(repr(array.tolist()).encode() if array.dtype.kind in "OU" else array.tobytes())
    return digest.hexdigest()[:16]


def main() -> None:
    """Run all scenarios, or print their names."""
    if sys.argv[1] == "--list":
        sys.stdout.write("\n".join(SCENARIOS) + "\n")
        return
    import tensorflow as tf

    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    for name, run in SCENARIOS.items():
        path = Path(sys.argv[1]) / name
        path.mkdir()
        tf.keras.utils.set_random_seed(7)
        print(name, bits(run(tf, path)), flush=True)
        print(name, "after", bits([tf.random.uniform([2])]), flush=True)


if __name__ == "__main__":
    main()
