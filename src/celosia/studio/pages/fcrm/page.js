// The drawing area: a click adds a point; with the keyboard arrows move a cross and Enter adds one there.
import { onLoad } from "../../studio.js";

const inside = (value, low, high) => Math.min(Math.max(value, low), high);
const place = new Map();

function frame(svg) {
  const of = (name) => Number(svg.dataset[name]);
  const names = ["x0", "x1", "y0", "y1", "left", "right", "top", "bottom", "width", "height"];
  return Object.fromEntries(names.map((name) => [name, of(name)]));
}

/** Numbers with as many digits as a pixel is worth. */
function tidy(value, low, high) {
  const digits = inside(2 - Math.floor(Math.log10((high - low) / 10)), 0, 12);
  return Number(value.toFixed(digits));
}

function add(at) {
  htmx.ajax("POST", "/fcrm/point", {
    source: "#main", target: "#main", select: "#main", swap: "outerHTML show:none", values: at,
  });
}

onLoad((root) => {
  const board = root.id === "board" ? root : root.querySelector?.("#board");
  if (!board || board.classList.contains("fixed")) return;
  const svg = board.querySelector("svg");
  const f = frame(svg);
  const cursor = svg.querySelector(".cursor");
  const said = document.getElementById("board-at");
  const middle = { x: (f.x0 + f.x1) / 2, y: (f.y0 + f.y1) / 2 };
  const at = place.get("cursor") ?? middle;
  at.x = inside(at.x, f.x0, f.x1);
  at.y = inside(at.y, f.y0, f.y1);

  const across = (x) => f.left + ((x - f.x0) / (f.x1 - f.x0)) * (f.width - f.left - f.right);
  const up = (y) => f.height - f.bottom - ((y - f.y0) / (f.y1 - f.y0)) * (f.height - f.top - f.bottom);
  const show = (speak) => {
    cursor.setAttribute("transform", `translate(${across(at.x)} ${up(at.y)})`);
    if (speak)
      said.textContent = said.dataset.says.replace("{x}", tidy(at.x, f.x0, f.x1)).replace("{y}", tidy(at.y, f.y0, f.y1));
  };
  const point = () => ({ x: tidy(at.x, f.x0, f.x1), y: tidy(at.y, f.y0, f.y1) });
  show(false);

  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    const px = ((event.clientX - box.left) / box.width) * f.width;
    const py = ((event.clientY - box.top) / box.height) * f.height;
    const x = f.x0 + ((px - f.left) / (f.width - f.left - f.right)) * (f.x1 - f.x0);
    const y = f.y0 + ((f.height - f.bottom - py) / (f.height - f.top - f.bottom)) * (f.y1 - f.y0);
    if (x < f.x0 || x > f.x1 || y < f.y0 || y > f.y1) return;
    Object.assign(at, { x, y });
    place.set("cursor", at);
    add(point());
  });

  board.addEventListener("keydown", (event) => {
    const size = event.shiftKey ? 10 : 1;
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    if (event.key in moves) {
      const [right, high] = moves[event.key];
      at.x = inside(at.x + (right * size * (f.x1 - f.x0)) / 100, f.x0, f.x1);
      at.y = inside(at.y + (high * size * (f.y1 - f.y0)) / 100, f.y0, f.y1);
      place.set("cursor", at);
      show(true);
    } else if (event.key === "Enter" || event.key === " ") {
      add(point());
    } else return;
    event.preventDefault();
  });
});
