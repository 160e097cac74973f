# ruff: noqa: ANN401, ARG002, T201
"""Train the load forecast on every worker of the cluster that TF_CONFIG names."""

from __future__ import annotations

import argparse
import csv
import fcntl
import json
import logging
import sys
import threading
import time
from pathlib import Path
from typing import Any, Iterator, List  # noqa: UP035 (Python 3.8 runs this file too)
from urllib.request import urlopen

import tensorflow as tf

WINDOW = 64
log = logging.getLogger("train")


def part_files(args: argparse.Namespace) -> list[str]:
    """Return the data files, in the order of the manifest."""
    return [f"{args.data}/{name}" for name in read_manifest(args.manifest).split()]


def read_manifest(place: str) -> str:
    """Read it from a file, or from the catalogue service."""
    if "://" not in place:
        return Path(place).read_text()
    with urlopen(place, timeout=20) as answer:  # noqa: S310 (the user's own argument)
        return str(answer.read().decode())


def read_rows(paths: list[str]) -> Iterator[tuple[list[float], list[float]]]:
    """Yield the sensor window and the load of every row."""
    for path in paths:
        with open(path, newline="") as stream:  # noqa: PTH123
            for row in csv.reader(stream):
                values = [float(cell) for cell in row]
                yield values[:WINDOW], values[WINDOW:]


def read_records(paths: list[str]) -> Any:
    """Return the sensor window and the load of every TFRecord."""

    def decode(record: Any) -> Any:
        values = tf.reshape(tf.io.decode_raw(record, tf.float32), [WINDOW + 1])
        return values[:WINDOW], values[WINDOW:]

    return tf.data.TFRecordDataset(paths).map(decode)


def count_rows(args: argparse.Namespace, reporter: Reporter) -> None:
    """Read every file once, and say what it holds."""
    for path in part_files(args):
        reporter.say(f"{path}: {sum(1 for _ in read_rows([path]))} rows")


def make_dataset(args: argparse.Namespace, paths: list[str]) -> Any:
    """Batches of these files, for ever unless they are to be read only once."""
    if args.format == "tfrecord":
        rows = read_records(paths)
    else:
        signature = (tf.TensorSpec([WINDOW], tf.float32), tf.TensorSpec([1], tf.float32))
        rows = tf.data.Dataset.from_generator(lambda: read_rows(paths), output_signature=signature)
    if args.normalise:
        from windowing import normalise  # type: ignore[import-not-found]

        rows = rows.map(normalise)
    if args.classes:
        rows = rows.map(lambda window, load: (window, tf.cast(tf.maximum(load * 4.0, 0.0), tf.int32)))
    if not args.once:
        rows = rows.repeat()
    return rows.batch(args.batch_size, drop_remainder=True)


def distribute(args: argparse.Namespace, strategy: Any) -> Any:
    """Give each worker its share of the files."""
    paths = part_files(args)
    if args.shard == "auto":
        options = tf.data.Options()
        options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.FILE
        return strategy.experimental_distribute_dataset(make_dataset(args, paths).with_options(options))

    def own(context: Any) -> Any:
        step = context.num_input_pipelines if args.shard == "file" else 1
        first = context.input_pipeline_id if args.shard == "file" else 0
        return make_dataset(args, paths[first::step])

    return strategy.distribute_datasets_from_function(own)


def build_model(args: argparse.Namespace) -> Any:
    """Convolutions over the window, then the load or its class."""
    layers = tf.keras.layers
    stack: List[Any] = [layers.Reshape((WINDOW, 1), input_shape=(WINDOW,))]  # noqa: UP006 (Python 3.8)
    for _ in range(args.depth):
        stack.append(layers.Conv1D(args.width, 9, activation="relu", padding="same"))
        if args.batch_norm:
            stack.append(layers.BatchNormalization())
    stack += [layers.GlobalAveragePooling1D(), layers.Dense(args.classes or 1)]
    return tf.keras.Sequential(stack)


def loss_function(args: argparse.Namespace) -> Any:
    """Return the loss of each row."""
    losses, none = tf.keras.losses, tf.keras.losses.Reduction.NONE
    if args.classes:
        return losses.SparseCategoricalCrossentropy(from_logits=True, reduction=none)
    return losses.MeanSquaredError(reduction=none)


class Schedule:
    """The learning rate of every step, one `step,rate` a line."""

    def __init__(self, path: str) -> None:
        self.lines = Path(path).read_text().splitlines()

    def rate(self, step: int) -> float:
        """Return the learning rate of a step that counts from one."""
        _, rate = self.lines[step - 1].split(",")
        return float(rate)


class Statistics:
    """Running statistics that the jobs of one machine share, under a lock."""

    def __init__(self, folder: str, every: int) -> None:
        self.folder, self.every = Path(folder), every

    def refresh(self, step: int) -> None:
        """Read the statistics again when their turn has come."""
        if step % self.every:
            return
        with (self.folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.values: Any = json.loads((self.folder / "statistics.json").read_text())
        time.sleep(self.values.get("retry_after", 0))


class Reporter:
    """Tells the progress in the manner that was asked for."""

    def __init__(self, style: str, which: str) -> None:
        self.style, self.which = style, which

    def say(self, message: str) -> None:
        """One line, as a sentence."""
        if self.style == "logging":
            log.info(message)
        else:
            print(message)

    def batch(self, step: int, size: int) -> None:
        """Say that a batch has been read."""
        self.say(f"step {step}: batch of {size} ready")

    def step(self, step: int, loss: float, local: float, seconds: float) -> None:
        """Say what a step gave."""
        losses = {"loss": loss, "local_loss": local}
        if self.which != "both":
            losses = {key: losses[key] for key in losses if key == self.which}
        joint = "=" if self.style == "key_value" else " "
        told = " ".join(f"{key}{joint}{value:.4f}" for key, value in losses.items())
        self.say(f"step{joint}{step} {told} time{joint}{seconds:.3f}")


def make_resolver(args: argparse.Namespace) -> Any:
    """Find the cluster where the launcher describes it."""
    resolvers = tf.distribute.cluster_resolver
    if args.cluster_from == "slurm":
        return resolvers.SlurmClusterResolver(
            port_base=args.port_base, gpus_per_node=args.gpus_per_node, auto_set_gpu=False
        )
    if args.cluster_from == "arguments":
        cluster = tf.train.ClusterSpec({"worker": args.workers.split(",")})
        return resolvers.SimpleClusterResolver(
            cluster, task_type="worker", task_id=args.task, rpc_layer="grpc"
        )
    return resolvers.TFConfigClusterResolver()


def make_strategy(args: argparse.Namespace) -> Any:
    """One replica group over all workers, or over the devices of this process."""
    if args.mixed_precision:
        tf.keras.mixed_precision.set_global_policy("mixed_float16")
    if args.strategy == "mirrored":
        if not tf.config.list_physical_devices("GPU"):
            split = [tf.config.LogicalDeviceConfiguration()] * args.devices
            tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], split)
        names = [device.name for device in tf.config.list_logical_devices()]
        return tf.distribute.MirroredStrategy([name for name in names if "GPU" in name] or names)
    options = tf.distribute.experimental.CommunicationOptions(
        implementation=getattr(
            tf.distribute.experimental.CommunicationImplementation, args.communication.upper()
        )
    )
    return tf.distribute.MultiWorkerMirroredStrategy(
        cluster_resolver=make_resolver(args), communication_options=options
    )


def stop_requested() -> None:
    """Leave when an operator has put a file named STOP here."""
    if Path("STOP").exists():
        sys.exit(0)


class PerStep(tf.keras.callbacks.Callback):  # type: ignore[misc]
    """What happens around each step of `fit`."""

    def __init__(self, args: argparse.Namespace, reporter: Reporter | None, local: Any) -> None:
        super().__init__()
        self.schedule, self.statistics = (
            Schedule(args.schedule),
            Statistics(args.statistics, args.refresh_every),
        )
        self.reporter, self.target, self.local = reporter, args.target_loss, local
        self.step, self.started = 0, 0.0

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Refresh the statistics and set the learning rate."""
        stop_requested()
        self.step += 1
        self.started = time.time()
        self.statistics.refresh(self.step)
        tf.keras.backend.set_value(self.model.optimizer.learning_rate, self.schedule.rate(self.step))

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Report the loss, and stop when it is good enough."""
        loss = float(logs["loss"])
        if self.reporter:
            self.reporter.step(self.step, loss, self.local.own(), time.time() - self.started)
        if loss < self.target:
            self.model.stop_training = True


def own_value() -> Any:
    """Return a variable of which each worker has its own value."""
    mean, on_read = tf.VariableAggregation.MEAN, tf.VariableSynchronization.ON_READ
    return tf.Variable(0.0, aggregation=mean, synchronization=on_read, trainable=False)


class LocalLoss:
    """The loss of each step before it is reduced over the workers, which `fit` itself does not show."""

    def __init__(self, strategy: Any, of_rows: Any) -> None:
        self.strategy, self.of_rows = strategy, of_rows
        self.last = own_value()

    def __call__(self, loads: Any, predicted: Any) -> Any:
        """Return the loss of each row, and keep their mean."""
        losses = self.of_rows(loads, predicted)
        self.last.assign(tf.reduce_mean(losses))
        return losses

    def own(self) -> float:
        """Return that of this worker."""
        return float(self.strategy.experimental_local_results(self.last)[0])


def fit_callbacks(args: argparse.Namespace, reporter: Reporter | None, local: LocalLoss) -> list[Any]:
    """Return what runs beside the training."""
    callbacks: List[Any] = [PerStep(args, reporter, local)]  # noqa: UP006 (Python 3.8)
    if args.logdir:
        profile = (args.profile, args.profile + 3) if args.profile else 0
        board = tf.keras.callbacks.TensorBoard(
            args.logdir, write_graph=False, update_freq=1, profile_batch=profile
        )
        callbacks.append(board)
    if args.checkpoint_every:
        path = args.checkpoints + "/weights-{epoch:02d}"
        callbacks.append(tf.keras.callbacks.ModelCheckpoint(path, save_weights_only=True, verbose=1))
    if args.backup:
        backup = getattr(tf.keras.callbacks, "BackupAndRestore", None)
        callbacks.append((backup or tf.keras.callbacks.experimental.BackupAndRestore)(args.backup))
    return callbacks


def fit(args: argparse.Namespace, strategy: Any, reporter: Reporter) -> float:
    """Train with Keras; return the last loss."""
    with strategy.scope():
        model = build_model(args)
        local = LocalLoss(strategy, loss_function(args))
        loss = "mse" if not args.classes else tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        if args.report != "loss":
            loss = local
        model.compile(optimizer=tf.keras.optimizers.SGD(0.01), loss=loss)
    if args.restore:
        model.load_weights(args.restore)
    verbose = {"bar": 1, "epoch": 2}.get(args.log_style, 0)
    validation = {}
    if args.evaluate_every:
        validation = {"validation_data": distribute(args, strategy), "validation_steps": args.evaluate_every}
    history = model.fit(
        distribute(args, strategy),
        epochs=args.epochs,
        steps_per_epoch=None if args.until_end else args.steps,
        verbose=verbose,
        callbacks=fit_callbacks(args, None if verbose else reporter, local),
        **validation,
    )
    return float(history.history["loss"][-1])


def make_step(args: argparse.Namespace, strategy: Any) -> tuple[Any, Any, Any, Any]:
    """Return the model, the optimizer, the function of one step, and where it leaves the gradients' norm."""
    with strategy.scope():
        model = build_model(args)
        optimizer = tf.keras.optimizers.SGD(0.01)
        norm = own_value()
    row_loss = loss_function(args)

    def replica_step(windows: Any, loads: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(row_loss(loads, model(windows, training=True)))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))  # noqa: B905 (Python 3.8)
        if args.watch_gradients:
            norm.assign(tf.linalg.global_norm(gradients))
        return loss

    def train_step(batch: Any) -> tuple[Any, Any]:
        losses = strategy.run(replica_step, args=batch)
        return strategy.reduce(tf.distribute.ReduceOp.MEAN, losses, axis=None), losses

    return model, optimizer, tf.function(train_step), norm


class Keeper:
    """Saves and restores checkpoints."""

    def __init__(self, args: argparse.Namespace, strategy: Any, **parts: Any) -> None:
        self.checkpoint = tf.train.Checkpoint(**parts)
        self.every = args.checkpoint_every
        self.mine = not (args.save_on == "chief" and strategy.cluster_resolver.task_id)
        self.prefix, self.progress = args.checkpoints, args.progress
        if args.restore:
            self.checkpoint.read(args.restore).assert_existing_objects_matched()

    def done(self) -> int:
        """Return the step after which an earlier life was saved, with the model restored; 0 without one."""
        if not self.progress or not Path(self.progress).exists():
            return 0
        if Path(f"{self.prefix}/latest.index").exists():
            self.checkpoint.read(f"{self.prefix}/latest")
        return int(Path(self.progress).read_text())

    def save(self, step: int) -> None:
        """Save when it is time, on the workers that are to save."""
        if not (self.every and step % self.every == 0 and self.mine):
            return
        self.checkpoint.write(f"{self.prefix}/{'latest' if self.progress else f'step-{step:05d}'}")
        if self.progress:
            Path(self.progress).write_text(str(step))


def evaluate(args: argparse.Namespace, model: Any) -> float:
    """Return the loss of this worker's model on all its files."""
    row_loss = loss_function(args)
    batches = make_dataset(args, part_files(args)).take(60)
    return float(sum(tf.reduce_mean(row_loss(loads, model(windows))) for windows, loads in batches)) / 60


def trace(args: argparse.Namespace, step: int) -> None:
    """Profile three steps, or for some seconds, however far they lead."""
    if args.profile and step == args.profile:
        tf.profiler.experimental.start(args.logdir)
        if args.profile_for:
            threading.Timer(args.profile_for, tf.profiler.experimental.stop).start()
    if args.profile and step == args.profile + 3 and not args.profile_for:
        tf.profiler.experimental.stop()


def custom_loop(args: argparse.Namespace, strategy: Any, reporter: Reporter) -> float:
    """Train step by step; return the last loss."""
    model, optimizer, train_step, norm = make_step(args, strategy)
    keeper = Keeper(args, strategy, model=model, optimizer=optimizer)
    schedule, statistics = Schedule(args.schedule), Statistics(args.statistics, args.refresh_every)
    writer = tf.summary.create_file_writer(args.logdir) if args.logdir else tf.summary.create_noop_writer()
    batches = iter(distribute(args, strategy))
    mean, done = float("nan"), keeper.done()
    if done:
        reporter.say(f"going on after step {done}")
    with writer.as_default():
        for step in range(done + 1, args.epochs * args.steps + 1):
            stop_requested()
            started = time.time()
            trace(args, step)
            statistics.refresh(step)
            try:
                batch = next(batches)
            except StopIteration:
                break
            if args.log_batches:
                reporter.batch(step, args.batch_size)
            tf.keras.backend.set_value(optimizer.learning_rate, schedule.rate(step))
            loss, losses = train_step(batch)
            mean, local = float(loss), float(strategy.experimental_local_results(losses)[0])
            tf.summary.scalar("loss", mean, step=step)
            if args.watch_gradients:
                tf.summary.scalar("learning_rate", schedule.rate(step), step=step)
                own = strategy.experimental_local_results(norm)[0]
                tf.summary.scalar("gradient_norm", own, step=step)
            reporter.step(step, mean, local, time.time() - started)
            keeper.save(step)
            if args.evaluate_every and step % args.evaluate_every == 0:
                reporter.say(f"evaluation after step {step}: loss {evaluate(args, model):.4f}")
            if local < args.target_loss:
                reporter.say(f"target loss reached after step {step}")
                break
    return mean


def serve(resolver: Any, reporter: Reporter) -> None:
    """Work for the chief, for ever."""
    task, index = resolver.task_type, resolver.task_id
    server = tf.distribute.Server(resolver.cluster_spec(), job_name=task, task_index=index, protocol="grpc")
    reporter.say(f"serving as {task}:{index}")
    server.join()


def follow(args: argparse.Namespace, reporter: Reporter) -> None:
    """Name the checkpoints as they come, for whoever evaluates them."""
    reporter.say(f"waiting for checkpoints in {args.checkpoints}")
    for path in tf.train.checkpoints_iterator(args.checkpoints, timeout=3600):
        reporter.say(f"new checkpoint {path}")


def parameter_server(args: argparse.Namespace, reporter: Reporter) -> float:
    """Train on the workers with variables on the parameter servers; return the last loss."""
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if resolver.task_type == "evaluator":
        follow(args, reporter)
    if resolver.task_type != "chief":
        serve(resolver, reporter)
    strategy = tf.distribute.experimental.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.experimental.coordinator.ClusterCoordinator(strategy)
    reporter.say(f"replicas in sync: {strategy.num_replicas_in_sync}, task {resolver.task_type}:0")
    _, _, train_step, _ = make_step(args, strategy)
    paths = part_files(args)
    batches = iter(coordinator.create_per_worker_dataset(lambda: make_dataset(args, paths)))
    next_step = tf.function(lambda iterator: train_step(next(iterator))[0])
    loss = float("nan")
    for step in range(1, args.epochs * args.steps + 1):
        started = time.time()
        loss = float(coordinator.schedule(next_step, args=(batches,)).fetch())
        reporter.step(step, loss, loss, time.time() - started)
    return loss


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=["fit", "custom", "ps"], default="fit")
    parser.add_argument("--data", default="data")
    parser.add_argument("--manifest", default="config/files.txt", help="names of the data files")
    parser.add_argument("--format", choices=["csv", "tfrecord"], default="csv")
    parser.add_argument("--shard", choices=["file", "auto", "none"], default="file")
    parser.add_argument("--once", action="store_true", help="read the data once, not for ever")
    parser.add_argument("--until-end", action="store_true", help="an epoch ends with the data")
    parser.add_argument("--normalise", action="store_true")
    parser.add_argument("--schedule", default="config/schedule.csv")
    parser.add_argument("--statistics", default="statistics")
    parser.add_argument("--refresh-every", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--steps", type=int, default=20, help="steps of an epoch")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--classes", type=int, default=0, help="classify the load instead")
    parser.add_argument("--batch-norm", action="store_true")
    parser.add_argument("--target-loss", type=float, default=0.0)
    parser.add_argument("--evaluate-every", type=int, default=0, help="steps")
    parser.add_argument("--checkpoint-every", type=int, default=0, help="steps")
    parser.add_argument("--checkpoints", default="checkpoints", help="where they are written")
    parser.add_argument("--backup", default="", help="where `fit` keeps what it needs to go on")
    parser.add_argument("--progress", default="", help="where a custom loop notes the step to go on from")
    parser.add_argument("--save-on", choices=["all", "chief"], default="all")
    parser.add_argument("--restore", default="", help="a checkpoint to begin with")
    parser.add_argument("--count-rows", action="store_true", help="read all data once first")
    parser.add_argument("--warm-up", action="store_true", help="try the device first")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--logdir", default="")
    parser.add_argument("--profile", type=int, default=0, help="first step to profile")
    parser.add_argument("--profile-for", type=float, default=0.0, help="seconds, in a custom loop")
    parser.add_argument("--log-style", default="plain")
    parser.add_argument("--report", choices=["loss", "local_loss", "both"], default="loss")
    parser.add_argument(
        "--watch-gradients", action="store_true", help="write their norm, and the learning rate"
    )
    parser.add_argument("--log-batches", action="store_true")
    parser.add_argument("--strategy", choices=["multi-worker", "mirrored"], default="multi-worker")
    parser.add_argument("--devices", type=int, default=2, help="replicas of a mirrored strategy without GPUs")
    parser.add_argument("--mixed-precision", action="store_true")
    parser.add_argument("--cluster-from", choices=["tf-config", "slurm", "arguments"], default="tf-config")
    parser.add_argument("--port-base", type=int, default=8888, help="with --cluster-from slurm")
    parser.add_argument("--gpus-per-node", type=int, help="with --cluster-from slurm")
    parser.add_argument("--workers", default="", help="host:port,... with --cluster-from arguments")
    parser.add_argument("--task", type=int, default=0, help="with --cluster-from arguments")
    parser.add_argument("--communication", choices=["auto", "ring", "nccl"], default="auto")
    return parser.parse_args()


def main() -> None:
    """Train, and say how it went."""
    args = parse_args()
    if args.log_style == "logging":
        line = "%(asctime)s %(levelname)s %(name)s: %(message)s"
        logging.basicConfig(level=logging.INFO, stream=sys.stdout, format=line)
    reporter = Reporter(args.log_style, args.report)
    reporter.say(f"TensorFlow {tf.__version__}")
    if args.warm_up:
        tf.linalg.matmul(tf.ones([64, 64]), tf.ones([64, 64]))
    if args.mode == "ps":
        parameter_server(args, reporter)
        reporter.say("training complete")
        return
    if args.count_rows:
        count_rows(args, reporter)
    strategy = make_strategy(args)
    resolver, replicas = strategy.cluster_resolver, f"replicas in sync: {strategy.num_replicas_in_sync}"
    reporter.say(f"{replicas}, task {resolver.task_type}:{resolver.task_id}" if resolver else replicas)
    tf.random.set_seed(args.seed)
    loss = {"fit": fit, "custom": custom_loop}[args.mode](args, strategy, reporter)
    reporter.say(f"training complete: final loss {loss:.4f}")


if __name__ == "__main__":
    main()
