// What all pages share. A page's own module imports onLoad from here.

/** Call a function with the document now, and with every piece that htmx puts into it later. */
export function onLoad(work) {
  work(document);
  document.addEventListener("htmx:load", (event) => {
    if (event.detail.elt !== document.body) work(event.detail.elt);
  });
}

// a piece that was waited for is there
document.addEventListener("htmx:afterSwap", (event) => event.detail.target.removeAttribute("aria-busy"));

/** Call a function at most once in so many milliseconds after the last event. */
export function settled(work, milliseconds) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...given), milliseconds);
  };
}

const asked = new WeakMap();

/**
 * Fetch a piece of a page and put it into an element; a newer request for the same element ends the older one.
 * Parts of the answer that say data-into="id" go into the element of that id instead. Resolves to the response.
 */
export async function fetchInto(element, address, form = null) {
  asked.get(element)?.abort();
  const control = new AbortController();
  asked.set(element, control);
  element.setAttribute("aria-busy", "true");
  try {
    const body = form ? new URLSearchParams([...new FormData(form)].filter(([, value]) => typeof value === "string")) : null;
    const answer = await fetch(address, { method: form ? "POST" : "GET", body, signal: control.signal, headers: { "HX-Request": "true" } });
    const piece = document.createElement("template");
    piece.innerHTML = await answer.text();
    for (const part of piece.content.querySelectorAll("[data-into]")) {
      const place = document.getElementById(part.dataset.into);
      part.remove();
      place?.replaceChildren(...part.childNodes);
    }
    element.replaceChildren(piece.content);
    window.htmx?.process(element);
    document.body.classList.remove("away");
    return answer;
  } catch (error) {
    if (error.name !== "AbortError") document.body.classList.add("away"); // the server may be restarting
    return null;
  } finally {
    if (asked.get(element) === control) element.removeAttribute("aria-busy");
  }
}

const all = (root, selector) => [
  ...(root.matches?.(selector) ? [root] : []),
  ...root.querySelectorAll(selector),
];

// a slider and its number say the same
onLoad((root) => {
  for (const slider of all(root, "input[data-slides]")) {
    const number = document.getElementById(slider.dataset.slides);
    slider.addEventListener("input", () => {
      number.value = slider.value;
      number.dispatchEvent(new Event("input", { bubbles: true }));
    });
    number.addEventListener("input", () => {
      if (number.value !== "") slider.value = number.value;
    });
  }
});

// a choice that is sent as soon as it is made
onLoad((root) => {
  for (const choice of all(root, "select[data-send], input[data-send]"))
    choice.addEventListener("change", () => choice.form.requestSubmit());
});

// a file that is dropped on a form is the one that it sends
onLoad((root) => {
  for (const form of all(root, "form[data-drop]")) {
    const input = form.querySelector("input[type=file]");
    for (const kind of ["dragover", "dragleave", "drop"])
      form.addEventListener(kind, (event) => {
        event.preventDefault();
        form.classList.toggle("over", kind === "dragover");
        if (kind === "drop" && event.dataTransfer.files.length) {
          input.files = event.dataTransfer.files;
          form.requestSubmit();
        }
      });
  }
});

// a piece that takes a while is fetched after the page; work in another process is asked about every second
onLoad((root) => {
  for (const element of all(root, "[data-fetch]")) fetchInto(element, element.dataset.fetch);
  for (const element of all(root, "[data-poll]")) {
    const ask = async () => {
      if (!element.isConnected) return;
      const answer = await fetchInto(element, element.dataset.poll);
      const then = answer?.headers.get("X-Then");
      if (then) location.assign(then);
      else setTimeout(ask, 1000);
    };
    setTimeout(ask, 1000);
  }
});

// one menu at a time, closed by Escape and by a click elsewhere; the side menu is folded on a phone
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]"))
    if (!menu.contains(event.target)) menu.open = false;
});
const narrow = matchMedia("(max-width: 60rem)");
const fold = () => {
  const side = document.querySelector("details.fold");
  if (side) side.open = !narrow.matches;
};
narrow.addEventListener("change", fold);
fold();

// a refusal is put into #problem: it must be seen, and go when something works
document.addEventListener("htmx:afterSwap", (event) => {
  const problem = document.getElementById("problem");
  if (event.detail.target.id === "problem") {
    problem.focus({ preventScroll: true });
    problem.scrollIntoView({ block: "center" });
  } else if (event.detail.target.id === "main" || event.detail.elt?.id === "main") {
    problem.textContent = "";
  }
});
