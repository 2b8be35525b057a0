"""Whether two pictures look alike: the share of their pixels that differ, counted by the browser."""

from __future__ import annotations

import base64
from typing import Any

TOLERANCE = 0.02
"""Share of the pixels that may differ: fonts are drawn a little differently from one version to the next."""
COUNTED = """async ([before, after]) => {
  const [a, b] = await Promise.all([before, after].map(async data => {
    const image = new Image(); image.src = "data:image/png;base64," + data; await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height), context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  }));
  const width = Math.min(a.width, b.width), height = Math.min(a.height, b.height);
  let differing = Math.max(a.width, b.width) * Math.max(a.height, b.height) - width * height;
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) {
    const i = 4 * (y * a.width + x), j = 4 * (y * b.width + x);
    if ([0, 1, 2].some(k => Math.abs(a.data[i + k] - b.data[j + k]) > 64)) differing++;
  }
  return differing / (Math.max(a.width, b.width) * Math.max(a.height, b.height));
}"""
EMPTIED = """async (data) => {
  const image = new Image(); image.src = "data:image/png;base64," + data; await image.decode();
  const canvas = document.createElement("canvas"); canvas.width = image.width; canvas.height = image.height;
  const context = canvas.getContext("2d"); context.drawImage(image, 0, 0);
  const [r, g, b] = context.getImageData(image.width - 1, 0, 1, 1).data;
  context.fillStyle = `rgb(${r},${g},${b})`; context.fillRect(0, 0, image.width, image.height);
  return canvas.toDataURL("image/png").split(",")[1];
}"""


class Looks:
    """A page of a browser that compares pictures."""

    def __init__(self, browser: Any) -> None:
        self.page = browser.new_page()

    def differing(self, one: bytes, other: bytes) -> float:
        """The share of the pixels in which two pictures differ."""
        told = [base64.b64encode(picture).decode() for picture in (one, other)]
        return float(self.page.evaluate(COUNTED, told))

    def blank(self, picture: bytes) -> bytes:
        """A picture of the same size with nothing on it, in the colour of its upper right corner."""
        return base64.b64decode(self.page.evaluate(EMPTIED, base64.b64encode(picture).decode()))
