"""The programming interface: JSON over HTTP, described at ``/api/openapi.json``."""

from adjudge.web.api import campaigns, files, joining, judging, people, picture, preference, ranking

ROUTERS = tuple(part.router for part in (joining, judging, preference, ranking, people, campaigns, files, picture))
