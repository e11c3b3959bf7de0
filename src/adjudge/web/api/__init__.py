"""The programming interface: JSON over HTTP, described at ``/api/openapi.json``."""

from adjudge.web.api import campaigns, files, joining, judging, people, picture

ROUTERS = (joining.router, judging.router, people.router, campaigns.router, files.router, picture.router)
