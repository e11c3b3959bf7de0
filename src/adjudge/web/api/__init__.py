"""The programming interface: JSON over HTTP, described at ``/api/openapi.json``; kinds of campaign add their own."""
