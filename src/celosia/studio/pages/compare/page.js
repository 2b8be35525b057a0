// The map: a mark that is chosen shows its candidate; a rectangle or the wheel zooms; the server draws what is seen.
const sight = () => document.getElementById("sight");

function choose(mark) {
  for (const other of document.querySelectorAll('#map [aria-pressed="true"]')) other.setAttribute("aria-pressed", "false");
  mark.setAttribute("aria-pressed", "true");
  document.getElementById("chosen-point").value = mark.dataset.point;
  htmx.ajax("GET", `/compare/candidate?index=${mark.dataset.point}`, { target: "#candidate", swap: "innerHTML", select: "unset" });
}

/** Risk and loss at a place of the map. */
function at(svg, event) {
  const box = svg.getBoundingClientRect();
  const [left, right, top, bottom] = svg.dataset.box.split(" ").map(Number);
  const [riskLow, riskHigh, lossLow, lossHigh] = svg.dataset.window.split(" ").map(Number);
  const scale = svg.viewBox.baseVal.width / box.width;
  const x = Math.min(right, Math.max(left, (event.clientX - box.left) * scale));
  const y = Math.min(bottom, Math.max(top, (event.clientY - box.top) * scale));
  return { x, y, loss: lossLow + ((right - x) / (right - left)) * (lossHigh - lossLow), risk: riskLow + ((bottom - y) / (bottom - top)) * (riskHigh - riskLow) };
}

function look(risk, loss) {
  const set = (name, value) => (sight().elements[name].value = value);
  set("risk_low", Math.min(...risk));
  set("risk_high", Math.max(...risk));
  set("loss_low", Math.min(...loss));
  set("loss_high", Math.max(...loss));
  htmx.trigger(sight(), "zoom");
}

document.addEventListener("click", (event) => {
  const mark = event.target.closest?.("#map [data-point]");
  if (mark) choose(mark);
  const side = event.target.closest?.("[data-compare]");
  if (side) {
    const list = document.getElementById(`side-${side.dataset.compare}`);
    list.value = side.dataset.index;
    list.dispatchEvent(new Event("change", { bubbles: true }));
    document.getElementById("two").scrollIntoView();
  }
});
document.addEventListener("keydown", (event) => {
  const mark = event.target.closest?.("#map [data-point]");
  if (!mark || !["Enter", " "].includes(event.key)) return;
  event.preventDefault();
  choose(mark);
});
document.addEventListener("pointerdown", (event) => {
  const svg = event.target.closest?.("#map svg.ru[data-box]");
  if (!svg || event.target.closest("[data-point]") || event.pointerType === "touch") return;
  event.preventDefault();
  const from = at(svg, event);
  const frame = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  frame.setAttribute("class", "mark");
  svg.append(frame);
  const move = (moved) => {
    const to = at(svg, moved);
    frame.setAttribute("x", Math.min(from.x, to.x));
    frame.setAttribute("y", Math.min(from.y, to.y));
    frame.setAttribute("width", Math.abs(from.x - to.x));
    frame.setAttribute("height", Math.abs(from.y - to.y));
  };
  const end = (ended) => {
    document.removeEventListener("pointermove", move);
    frame.remove();
    const to = at(svg, ended);
    if (Math.abs(to.x - from.x) > 8 && Math.abs(to.y - from.y) > 8) look([from.risk, to.risk], [from.loss, to.loss]);
  };
  document.addEventListener("pointermove", move);
  document.addEventListener("pointerup", end, { once: true });
});
document.addEventListener("wheel", (event) => {
  const svg = event.target.closest?.("#map svg.ru[data-box]");
  if (!svg || !event.ctrlKey) return;
  event.preventDefault();
  document.getElementById(event.deltaY < 0 ? "zoom-in" : "zoom-out").click();
}, { passive: false });
