// The address follows the node that is looked at, so that a reload shows it again.
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.id !== "look") return;
  const node = event.detail.target.querySelector("[data-node]")?.dataset.node;
  const asked = event.detail.requestConfig?.path ?? "";
  if (node && asked.includes("node=")) history.replaceState(history.state, "", `/lattice?node=${node}`);
});
