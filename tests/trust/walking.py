"""A visitor of a web part who keeps every answer: what an address, a header, a link or a page holds is looked at afterwards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

LINK = re.compile(r"""\b(?:href|src|action|formaction|hx-[\w-]+|data-fetch|data-address)\s*=\s*["']([^"']*)["']""")
TITLE = re.compile(r"<head>.*?<title>(.*?)</title>", re.DOTALL)


class Walk:
    """Asks for addresses and keeps what came back."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.around: dict[str, bytes] = {}
        """By request: its address, the head of the answer, and all that a page tells a browser to ask for or to call it."""
        self.pages: dict[str, bytes] = {}
        """By request: the body of an answer that is no refusal."""
        self.refusals: dict[str, bytes] = {}
        """By request: the body of a refusal."""
        self.asked: list[tuple[str, str]] = []

    def get(self, address: str, **more: Any) -> Any:
        """Ask for a page."""
        return self._kept("GET", address, more)

    def post(self, address: str, **more: Any) -> Any:
        """Send a form."""
        return self._kept("POST", address, more)

    def _kept(self, method: str, address: str, more: dict[str, Any]) -> Any:
        answer = self._client.request(method, address, **more)
        name = f"{len(self.asked)} {method} {address.partition('?')[0]} {answer.status_code}"
        self.asked.append((method, answer.request.url.path))
        links = [*LINK.findall(answer.text), *TITLE.findall(answer.text)] if "html" in _kind(answer) else []
        head = [str(answer.request.url), *(f"{key}: {value}" for key, value in answer.headers.items()), *links]
        self.around[name] = "\n".join(head).encode()
        refused = answer.status_code >= 400 or "hx-retarget" in answer.headers
        (self.refusals if refused else self.pages)[name] = answer.content
        return answer

    def missed(self, routes: Any) -> list[str]:
        """The addresses of an application that were not asked for."""
        return sorted(
            f"{method} {route.path}"
            for route in _flat(routes)
            for method in route.methods - {"HEAD"}
            if not any(method == asked and route.path_regex.match(path) for asked, path in self.asked)
        )


def _flat(routes: Any) -> Iterator[Any]:
    for route in routes:
        if getattr(route, "methods", None):
            yield route


def _kind(answer: Any) -> str:
    return str(answer.headers.get("content-type", ""))
