// Points of fuzzy sets: dragged by the pointer or moved by the arrow keys. While a point moves, the numbers come from
// the server for a sample; when it rests, the change is made in the policy.
import { onLoad, settled } from "../../studio.js";

const RESTS = 500;

function wire(svg) {
  const number = (name) => Number(svg.dataset[name]);
  const [low, high, step, left, right, full, none, width] = [
    "low", "high", "step", "left", "right", "full", "none", "width",
  ].map(number);
  const points = svg.dataset.points.split(" ").map(Number);
  const handles = [...svg.querySelectorAll(".handle")];
  const sets = [...svg.querySelectorAll(".set")];
  const said = document.getElementById("at");
  const before = points.join(" ");

  const x = (value) => left + ((value - low) / (high - low)) * (right - left);
  const tidy = (value) => Number((Math.round(value / step) * step).toPrecision(12));
  const least = (i) => (i === 0 ? -Infinity : points[i - 1] + (i % 2 ? step : 0));
  const most = (i) => (i === points.length - 1 ? Infinity : points[i + 1] - (i % 2 ? 0 : step));

  function draw() {
    sets.forEach((set, i) => {
      const [a, b] = i === 0 ? [low, low] : points.slice(2 * i - 2, 2 * i);
      const [c, d] = i === sets.length - 1 ? [high, high] : points.slice(2 * i, 2 * i + 2);
      const corners = [
        ...(i === 0 ? [[low, full]] : [[low, none], [a, none], [b, full]]),
        ...(i === sets.length - 1 ? [[high, full]] : [[c, full], [d, none], [high, none]]),
      ].map(([at, y]) => `${x(at).toFixed(1)} ${y}`);
      set.querySelector(".line").setAttribute("d", `M${corners.join("L")}`);
      set.querySelector(".area").setAttribute("d", `M${x(low)} ${none}L${corners.join("L")}L${x(high)} ${none}Z`);
      const middle = (x(i === 0 ? low : b) + x(i === sets.length - 1 ? high : c)) / 2;
      set.querySelector(".name")?.setAttribute("x", middle.toFixed(1));
    });
    handles.forEach((handle, i) => {
      handle.setAttribute("transform", `translate(${x(points[i]).toFixed(1)} ${i % 2 ? none : full})`);
      handle.setAttribute("aria-valuenow", points[i]);
      handle.setAttribute("aria-valuemin", i === 0 ? low : points[i - 1]);
      handle.setAttribute("aria-valuemax", i === points.length - 1 ? high : points[i + 1]);
    });
  }

  let asking = false;
  let again = false;
  async function preview() {
    if (asking) {
      again = true;
      return;
    }
    asking = true;
    const values = new URLSearchParams({ column: svg.dataset.column, points: points.join(" ") });
    try {
      const answer = await fetch("/fuzzy/preview", { method: "POST", body: values });
      if (answer.ok && svg.isConnected) {
        const held = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("numbers");
        if (held) document.getElementById("numbers")?.replaceWith(held);
      }
    } finally {
      asking = false;
      if (again) {
        again = false;
        preview();
      }
    }
  }

  function keep() {
    const now = points.join(" ");
    if (now === before || !svg.isConnected) return;
    const version = document.querySelector("#main input[name=version]").value;
    htmx.ajax("POST", "/fuzzy/points", {
      source: "#main", target: "#main", select: "#main", swap: "outerHTML show:none",
      values: { column: svg.dataset.column, points: now, version, here: "/fuzzy" },
    });
  }
  const keepSoon = settled(keep, RESTS);

  function move(i, value) {
    const placed = Math.min(Math.max(tidy(value), least(i)), most(i), high);
    points[i] = Math.max(placed, Math.min(low, points[i]));
    draw();
    said.textContent = `${handles[i].getAttribute("aria-label")}: ${points[i]}`;
    preview();
  }

  handles.forEach((handle, i) => {
    handle.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      handle.setPointerCapture(event.pointerId);
      handle.classList.add("moving");
      handle.focus({ preventScroll: true });
    });
    handle.addEventListener("pointermove", (event) => {
      if (!handle.hasPointerCapture(event.pointerId)) return;
      const box = svg.getBoundingClientRect();
      const at = ((event.clientX - box.left) / box.width) * width;
      move(i, low + ((at - left) / (right - left)) * (high - low));
    });
    handle.addEventListener("lostpointercapture", () => {
      handle.classList.remove("moving");
      keep();
    });
    handle.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };
      if (event.key in moves) move(i, points[i] + moves[event.key] * step * (event.shiftKey ? 10 : 1));
      else if (event.key === "Home") move(i, i === 0 ? low : least(i));
      else if (event.key === "End") move(i, i === points.length - 1 ? high : most(i));
      else return;
      event.preventDefault();
      keepSoon();
    });
  });
}

onLoad((root) => {
  const svg = root.querySelector?.("svg.sets");
  if (svg) wire(svg);
});
