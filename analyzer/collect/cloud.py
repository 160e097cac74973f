"""Collects a managed training job with the cloud's own command-line tool: Vertex AI, SageMaker."""

import json
from collections.abc import Sequence

from analyzer.collect.commands import Commands

_SAGEMAKER_LOGS = "/aws/sagemaker/TrainingJobs"


def collect_vertex(commands: Commands, job: str, scope: Sequence[str]) -> None:
    """Save the description of a custom job of Vertex AI, and the entries of its logs.

    `scope` are options such as `--project` and `--region`; `job` is the number of the job.
    """
    described = commands.query_json("gcloud", "ai", "custom-jobs", "describe", job, *scope, "--format=json")
    if described:
        commands.write_json("vertex-job.json", described)
    project = [option for option in scope if option.startswith("--project=")]
    condition = f'resource.type="ml_job" AND resource.labels.job_id="{job}"'
    commands.save(
        "cloud-logging.json", "gcloud", "logging", "read", condition, *project,
        "--freshness=30d", "--order=asc", "--format=json",
    )  # fmt: skip
    commands.state_platform("vertex")


def collect_sagemaker(commands: Commands, job: str, scope: Sequence[str]) -> None:
    """Save the description of a training job of SageMaker, and the events of its logs, one a line.

    `scope` are options such as `--region` and `--profile`.
    """
    described = commands.query_json(
        "aws", "sagemaker", "describe-training-job", f"--training-job-name={job}", *scope, "--output=json"
    )
    if described:
        commands.write_json("sagemaker-job.json", described)
    answer = commands.query_json(
        "aws", "logs", "filter-log-events", f"--log-group-name={_SAGEMAKER_LOGS}",
        f"--log-stream-name-prefix={job}/", *scope, "--output=json",
    )  # fmt: skip
    if events := (answer or {}).get("events"):
        lines = [json.dumps(each, ensure_ascii=False) + "\n" for each in events]
        commands.write("cloudwatch.jsonl", "".join(lines))
    commands.state_platform("sagemaker")
