# Both commands in a small image. The run is mounted read-only, and the report is printed, since a file would be lost with
# the container: docker run --rm -v "$PWD/run:/run_dir:ro" mwms-analyze
# The triage: docker run --rm --entrypoint mwms-triage -v "$PWD/runs:/runs:ro" -v "$PWD/triage:/triage" mwms-analyze /runs -o /triage
FROM python:3.11-slim AS build
WORKDIR /src
COPY pyproject.toml constraints.txt LICENSE README.md ./
COPY analyzer analyzer
COPY mwms_analyze mwms_analyze
COPY rules rules
COPY reports reports
COPY share share
COPY sample_runs/scenarios sample_runs/scenarios
RUN python -m venv /opt/mwms && /opt/mwms/bin/pip install --no-cache-dir -c constraints.txt '.[triage,postgres,s3,cluster]'

FROM python:3.11-slim
COPY --from=build /opt/mwms /opt/mwms
ENV PATH=/opt/mwms/bin:$PATH
RUN useradd --create-home --uid 10001 analyst
USER analyst
WORKDIR /home/analyst
ENTRYPOINT ["/opt/mwms/bin/python", "-I", "-m", "analyzer"]
CMD ["/run_dir", "-o", "-"]
