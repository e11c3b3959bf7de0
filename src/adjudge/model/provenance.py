"""Where a result came from, so that anyone can produce it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from adjudge._version import __version__


@dataclass(frozen=True)
class Provenance:
    """Version, inputs with their digests, and every choice that was made on the way."""

    inputs: tuple[tuple[str, str], ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    version: str = __version__

    def with_settings(self, **settings: Any) -> Provenance:
        """The same origin with further choices."""
        return replace(self, settings={**self.settings, **settings})

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "adjudge": self.version,
            "inputs": [{"file": name, "sha256": digest} for name, digest in self.inputs],
            "settings": dict(self.settings),
        }
