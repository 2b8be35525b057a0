// Protect: the preview follows the form, and steps can be dragged.
import { fetchInto, onLoad } from "../../studio.js";

onLoad((root) => {
  const form = root.querySelector?.("#entry-form");
  if (!form) return;
  // one request at a time, the last state of the form as soon as the one before is there: no pause, and no pile of requests
  let asking = false;
  let moved = false;
  const follow = async () => {
    moved = true;
    if (asking) return;
    asking = true;
    while (moved && form.isConnected) {
      moved = false;
      await fetchInto(document.getElementById("preview"), "/protect/preview", form);
    }
    asking = false;
  };
  form.addEventListener("input", follow);
  form.addEventListener("change", async (event) => {
    // another nested part has other fields
    if (event.target.matches("[data-again]")) await fetchInto(document.getElementById("fields"), "/protect/form", form);
    follow();
  });
  follow();
});

onLoad((root) => {
  for (const list of root.querySelectorAll?.("ol.entries[data-list='step']") ?? []) {
    let dragged = null;
    for (const entry of list.children) {
      const grip = entry.querySelector(".grip");
      if (!grip) continue;
      grip.addEventListener("pointerdown", () => (entry.draggable = true));
      entry.addEventListener("dragstart", (event) => {
        dragged = entry;
        event.dataTransfer.effectAllowed = "move";
        entry.classList.add("dragged");
      });
      entry.addEventListener("dragend", () => {
        entry.draggable = false;
        entry.classList.remove("dragged");
        for (const each of list.children) each.classList.remove("target");
      });
      entry.addEventListener("dragover", (event) => {
        if (!dragged) return;
        event.preventDefault();
        for (const each of list.children) each.classList.toggle("target", each === entry && each !== dragged);
      });
      entry.addEventListener("drop", (event) => {
        event.preventDefault();
        if (!dragged || dragged === entry) return;
        const version = document.querySelector("#main input[name=version]").value;
        htmx.ajax("POST", "/protect/move", {
          source: document.getElementById("main"),
          values: { version, list: list.dataset.list, position: dragged.dataset.position, to: entry.dataset.position },
        });
      });
    }
  }
});
