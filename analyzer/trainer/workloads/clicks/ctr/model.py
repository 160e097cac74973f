# ruff: noqa: ANN401
"""Model function of the click-through-rate Estimator."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

SITES = ["news", "mail", "video", "shop", "forum"]


def features_of(columns: Any) -> Any:
    """Return the dense input: scaled numbers and one-hot sites."""
    numbers = [columns["age"] / 10.0, columns["price"], tf.cast(columns["position"], tf.float32)]
    known = tf.constant(SITES)[tf.newaxis, :]
    sites = tf.cast(tf.equal(columns["site"][:, tf.newaxis], known), tf.float32)
    return tf.concat([tf.stack(numbers, axis=1), sites], axis=1)


def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
    """Build the network for training or evaluation."""
    dense = tf.compat.v1.layers.dense
    hidden = dense(features_of(features), 32, activation=tf.nn.tanh)
    logits = tf.squeeze(dense(hidden, 1), axis=1)
    targets = tf.cast(labels, tf.float32)
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(targets, logits))
    if mode == tf.estimator.ModeKeys.EVAL:
        right = tf.compat.v1.metrics.accuracy(labels, tf.cast(logits > 0, tf.int32))
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"accuracy": right})
    optimizer = tf.compat.v1.train.AdagradOptimizer(params["learning_rate"])
    train_op = optimizer.minimize(loss, tf.compat.v1.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
