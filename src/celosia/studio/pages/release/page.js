// Release: the two editions of the report behind tabs; the second is fetched when it is asked for.
import { onLoad } from "../../studio.js";

onLoad((root) => {
  const tabs = [...(root.querySelectorAll?.("[role=tab]") ?? [])];
  const choose = (chosen) => {
    for (const tab of tabs) {
      const frame = document.getElementById(tab.getAttribute("aria-controls"));
      tab.setAttribute("aria-selected", String(tab === chosen));
      tab.tabIndex = tab === chosen ? 0 : -1;
      frame.hidden = tab !== chosen;
      if (tab === chosen && frame.dataset.src && !frame.src) frame.src = frame.dataset.src;
    }
    chosen.focus();
  };
  tabs.forEach((tab, i) => {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (way) choose(tabs[(i + way + tabs.length) % tabs.length]);
    });
  });
});
