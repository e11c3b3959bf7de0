# syntax=docker/dockerfile:1
# The server in an image of its own:
#
#   docker build -t adjudge .
#   docker run --rm -p 127.0.0.1:8000:8000 -v adjudge-data:/data adjudge
#   docker run --rm -p 127.0.0.1:8000:8000 adjudge serve --host 0.0.0.0 --demo
#
# Everything is kept in /data. With ADJUDGE_DATABASE=postgresql://… the database is elsewhere; clips and the secret stay
# in /data. ADJUDGE_ADDRESS is how people reach it. deploy/compose.yaml has both, with PostgreSQL beside it.

ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
WORKDIR /src
RUN python -m venv /opt/adjudge
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN --mount=type=cache,target=/var/cache/pip /opt/adjudge/bin/pip install --cache-dir /var/cache/pip --disable-pip-version-check '.[web]'

FROM python:${PYTHON}-slim
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /data --shell /usr/sbin/nologin adjudge \
 && install --directory --owner=adjudge --group=adjudge --mode=0700 /data
COPY --from=build /opt/adjudge /opt/adjudge
ENV PATH=/opt/adjudge/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    MPLCONFIGDIR=/tmp/matplotlib \
    ADJUDGE_DATA=/data
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
ENTRYPOINT ["adjudge"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
