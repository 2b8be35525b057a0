// Data: roles are sent one after the other, so that quick clicks are all kept; the page is loaded again after the last.
const queue = [];
let sending = false;
let waiting = ""; // undo or redo, clicked while roles are being sent

async function send() {
  sending = true;
  while (queue.length) {
    const refusal = await sendAll();
    await window.htmx.ajax("GET", "/data", { source: "#main", target: "#main", select: "#main", swap: "outerHTML show:none" });
    if (refusal) document.getElementById("problem").innerHTML = refusal;
  }
  sending = false;
  const form = waiting && document.querySelector(`form[action="${waiting}"]`);
  waiting = "";
  if (form) form.requestSubmit(form.querySelector("button"));
}

async function sendAll() {
  let refusal = "";
  while (queue.length) {
    try {
      const answer = await fetch("/data/role", { method: "POST", body: queue[0], keepalive: true, headers: { "HX-Request": "true" } });
      const page = document.createElement("template");
      page.innerHTML = await answer.text();
      refusal = page.content.querySelector("#refusal")?.outerHTML || refusal;
      queue.shift();
      document.body.classList.remove("away");
    } catch {
      document.body.classList.add("away"); // the server may be restarting: the click is sent again
      await new Promise((done) => setTimeout(done, 1000));
    }
  }
  return refusal;
}

// clicks that wait when the page is left are sent all the same, the last one of each column
addEventListener("pagehide", () => {
  const last = new Map(queue.map((click) => [click.get("column"), click]));
  for (const click of last.values()) navigator.sendBeacon("/data/role", click);
  queue.length = 0;
});

document.addEventListener(
  "submit",
  (event) => {
    const form = event.target;
    const action = form.getAttribute("action");
    const later = sending && ["/undo", "/redo"].includes(action);
    if (action !== "/data/role" && !later) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (later) {
      waiting = action;
      return;
    }
    queue.push(new URLSearchParams(new FormData(form, event.submitter)));
    for (const button of form.querySelectorAll("button[aria-pressed]"))
      button.setAttribute("aria-pressed", String(button === event.submitter));
    if (!sending) send();
  },
  true,
);
