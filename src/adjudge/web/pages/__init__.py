"""What browsers show: pages, and the clips on them."""

from adjudge.web.api import media
from adjudge.web.pages import assessor, health, organiser

ROUTERS = (health.router, media.router, assessor.router, organiser.router)
