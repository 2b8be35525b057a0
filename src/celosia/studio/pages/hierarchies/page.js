// Breaks are dragged over the histogram, values and groups over the tree. Each drag ends in a click on the button that
// keys use too: a form that is submitted without a click does not say by which button.
import { onLoad } from "../../studio.js";

const snap = (value, step) => Number((Math.round(value / step) * step).toPrecision(12));

onLoad((root) => {
  const svg = root.querySelector?.("svg.cuts");
  if (svg) cuts(svg, svg.closest("form"));
  const forest = root.querySelector?.(".forest");
  if (forest) drag(forest);
});

function cuts(svg, form) {
  const { low, high, left, room, step } = Object.fromEntries(
    Object.entries(svg.dataset).map(([name, text]) => [name, Number(text)]),
  );
  const x = (value) => left + (room * Math.min(1, Math.max(0, (value - low) / (high - low || 1))));
  const input = (grip) => form.querySelector(`input[data-break="${grip.dataset.break}"]`);
  const value = (event) => {
    const box = svg.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
    return snap(low + ((at - left) / room) * (high - low), step);
  };
  const place = (grip, wanted) => {
    const kept = Math.min(high, Math.max(low, wanted));
    grip.setAttribute("transform", `translate(${x(kept)} 0)`);
    grip.setAttribute("aria-valuenow", kept);
    grip.querySelector("text").textContent = kept;
    const field = input(grip);
    if (Number(field.value) === kept) return;
    field.value = kept;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  };
  for (const grip of svg.querySelectorAll(".grip")) {
    grip.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      grip.focus();
      grip.setPointerCapture(event.pointerId);
      const before = input(grip).value;
      const move = (moved) => place(grip, value(moved));
      grip.addEventListener("pointermove", move);
      const end = () => {
        grip.removeEventListener("pointermove", move);
        if (input(grip).value !== before) form.querySelector("#save").click();
      };
      grip.addEventListener("pointerup", end, { once: true });
      grip.addEventListener("pointercancel", end, { once: true });
    });
    grip.addEventListener("keydown", (event) => {
      const now = Number(input(grip).value);
      const far = event.shiftKey ? 10 : 1;
      const moves = { ArrowLeft: -far, ArrowDown: -far, ArrowRight: far, ArrowUp: far };
      if (event.key in moves) place(grip, snap(now + moves[event.key] * step, step));
      else if (event.key === "Home") place(grip, low);
      else if (event.key === "End") place(grip, high);
      else if (event.key === "Enter") form.querySelector("#save").click();
      else if (event.key === "Delete")
        form.querySelector(`button[name="remove"][value="${grip.dataset.break}"]`).click();
      else return;
      event.preventDefault();
    });
  }
  // a number that is typed moves its break
  form.addEventListener("input", (event) => {
    const at = event.target.dataset?.break;
    const grip = at === undefined ? null : svg.querySelector(`.grip[data-break="${at}"]`);
    if (!grip || event.target.value === "") return;
    grip.setAttribute("transform", `translate(${x(Number(event.target.value))} 0)`);
    grip.setAttribute("aria-valuenow", event.target.value);
    grip.querySelector("text").textContent = event.target.value;
  });
}

function drag(forest) {
  const form = document.getElementById("tree");
  let lifted = null;
  const group = (event) => event.target.closest("[data-group]");
  forest.addEventListener("dragstart", (event) => {
    lifted = event.target.closest("[draggable]");
    lifted.classList.add("lifted");
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", "");
  });
  forest.addEventListener("dragover", (event) => {
    if (!lifted) return;
    event.preventDefault();
    for (const each of [forest, ...forest.querySelectorAll(".over")]) each.classList.remove("over");
    group(event)?.classList.add("over");
  });
  forest.addEventListener("dragend", () => {
    for (const each of [forest, ...forest.querySelectorAll(".over, .lifted")]) each.classList.remove("over", "lifted");
    lifted = null;
  });
  forest.addEventListener("drop", (event) => {
    const target = group(event);
    if (!lifted || !target || target === lifted) return;
    event.preventDefault();
    const own = lifted.querySelector('input[type="checkbox"]');
    // what is ticked goes along when one of it is dragged; else the ticks mean something else
    if (!own.checked) for (const box of forest.querySelectorAll("input:checked")) box.checked = false;
    own.checked = true;
    form.querySelector("#under").value = target.dataset.place;
    form.querySelector("#do-move").click();
  });
}
