// The table in a browser: the stream of the story, the composer, and a few keys. No text is ever read as markup
// but what the server rendered for this seat.

const part = (html) => {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
};

// Theme.

const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

const toggleTheme = () => {
  const theme = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  localStorage.setItem("theme", theme);
};

// The story.

const atEnd = () => innerHeight + scrollY >= document.documentElement.scrollHeight - 160;
const toEnd = () => scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });

const numberOf = (position) => Number(position.split("-")[1] || 0);

function addLine(lines, html, position) {
  const number = numberOf(position);
  if (document.getElementById(`line-${number}`)) return; // two streams of one page agree
  lines.querySelector(".empty")?.remove();
  const follows = atEnd();
  const added = part(html);
  for (const element of added.children) element.classList.add("new");
  lines.append(added);
  if (follows) toEnd();
}

let sent = null; // the text on its way to the game: it leaves the box once the game has it

function replaceComposer(html) {
  const old = document.getElementById("composer");
  if (!old) return;
  const follows = atEnd();
  const words = old.querySelector("textarea");
  const kept = words && { text: words.value, start: words.selectionStart, focus: document.activeElement === words };
  const wasDue = old.dataset.due === "yes";
  const fresh = part(html).firstElementChild;
  old.replaceWith(fresh);
  window.htmx?.process(fresh);
  const box = fresh.querySelector("textarea");
  if (box && kept && !box.value && kept.text !== sent) {
    box.value = kept.text;
    box.setSelectionRange(kept.start, kept.start);
  }
  const isDue = fresh.dataset.due === "yes";
  if (box && (kept?.focus || (isDue && !wasDue && document.activeElement === document.body))) box.focus({ preventScroll: true });
  if (follows) toEnd();
  showTurn(isDue);
}

function showTurn(isDue) {
  const title = document.title.replace(/^● /, "");
  document.title = isDue && document.hidden ? `● ${title}` : title;
}

function replacePanel(html) {
  const old = document.getElementById("panel");
  const fresh = part(html).firstElementChild;
  const fold = fresh.querySelector("details");
  if (fold) fold.open = old.querySelector("details")?.open ?? true;
  old.replaceWith(fresh);
}

function follow(main) {
  const lines = document.getElementById("lines");
  let position = main.dataset.position;
  let source;
  const open = () => {
    source = new EventSource(`${main.dataset.stream}?after=${encodeURIComponent(position)}`);
    source.addEventListener("open", () => document.body.classList.remove("lost"));
    source.addEventListener("error", () => {
      document.body.classList.add("lost");
      if (source.readyState === EventSource.CLOSED) setTimeout(open, 1000);
    });
    source.addEventListener("line", (event) => {
      if (numberOf(event.lastEventId) <= numberOf(position)) return;
      position = event.lastEventId;
      addLine(lines, event.data, position);
    });
    source.addEventListener("panel", (event) => replacePanel(event.data));
    source.addEventListener("composer", (event) => replaceComposer(event.data));
    source.addEventListener("draft", (event) => showDraft(event.data));
    source.addEventListener("restart", () => location.reload());
    source.addEventListener("closed", () => {
      source.close();
      location.reload();
    });
  };
  open();
  addEventListener("pagehide", () => source.close());
  addEventListener("pageshow", (event) => event.persisted && location.reload());
}

function showDraft(text) {
  const now = document.getElementById("now");
  now.textContent = text;
  now.hidden = !text;
}

// The composer.

let typing;
function understand(box) {
  const shown = document.getElementById("understood");
  clearTimeout(typing);
  if (!box.value.trim()) return void (shown.textContent = "");
  typing = setTimeout(async () => {
    const form = new FormData(box.form);
    const line = box.value;
    const answer = await fetch(box.dataset.understand, { method: "POST", body: form }).catch(() => null);
    const target = document.getElementById("understood");
    if (answer?.ok && target && document.getElementById("words")?.value === line) target.textContent = (await answer.text()).trim();
  }, 250);
}

addEventListener("submit", (event) => {
  if (event.submitter?.classList.contains("send")) sent = event.target.querySelector("textarea")?.value ?? null;
});

addEventListener("input", (event) => {
  sent = null;
  const box = event.target.closest("textarea[data-understand]");
  if (box) understand(box);
});

addEventListener("click", (event) => {
  if (event.target.closest("[data-theme-toggle]")) return toggleTheme();
  const idea = event.target.closest("[data-line]");
  const box = document.getElementById("words");
  if (!idea || !box) return;
  box.value = idea.dataset.line;
  box.focus();
  box.setSelectionRange(box.value.length, box.value.length);
  understand(box);
});

addEventListener("keydown", (event) => {
  if (event.target.id === "words" && event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    const send = event.target.form.querySelector("button.send");
    if (send && !send.disabled) event.target.form.requestSubmit(send);
    return;
  }
  if (event.target.closest("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.key === "/" || event.key === "i") {
    const box = document.getElementById("words") || document.querySelector("main input[type=search], main input[type=text]");
    if (box) {
      event.preventDefault();
      box.focus();
    }
  }
  const pages = document.querySelectorAll("nav.menu a");
  if (/^[1-9]$/.test(event.key) && pages[event.key - 1]) pages[event.key - 1].click();
});

addEventListener("visibilitychange", () => showTurn(document.getElementById("composer")?.dataset.due === "yes"));

const story = document.querySelector("main[data-stream]");
if (story) {
  // Whoever reads the end stays there while lines come and the composer grows.
  let follows = true;
  addEventListener("scroll", () => (follows = atEnd()), { passive: true });
  new ResizeObserver(() => follows && toEnd()).observe(document.querySelector(".story"));
  if (matchMedia("(max-width: 52rem)").matches) document.querySelector("#panel details").open = false;
  follow(story);
  if (!location.hash) toEnd();
}

// Pages beside the story: controls that load the page again, meters, and the graph.

document.documentElement.classList.add("scripted");
for (const here of document.querySelectorAll(".menu [aria-current], .rail [aria-current]")) {
  const box = here.closest(".menu, .rail");
  box.scrollTo({ left: here.offsetLeft - box.clientWidth / 2, top: here.offsetTop - box.clientHeight / 2, behavior: "instant" });
}
for (const element of document.querySelectorAll("[data-share]")) element.style.width = `${element.dataset.share}%`;
addEventListener("input", (event) => {
  const shown = event.target.dataset?.shown;
  if (shown) document.getElementById(shown).value = event.target.value;
});
addEventListener("change", (event) => {
  if (event.target.matches?.("[data-submit]")) event.target.form.requestSubmit();
});
addEventListener("focusin", (event) => event.target.matches?.("input.copy") && event.target.select());

// A file that is dropped anywhere on the form is looked at, as is one that is chosen.
const drop = document.querySelector("[data-drop]");
if (drop) {
  const input = drop.querySelector("input[type=file]");
  input.addEventListener("change", () => input.files.length && drop.requestSubmit());
  for (const kind of ["dragover", "dragleave", "drop"]) {
    drop.addEventListener(kind, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", kind === "dragover");
      if (kind !== "drop" || !event.dataTransfer.files.length) return;
      input.files = event.dataTransfer.files;
      drop.requestSubmit();
    });
  }
}

const graph = document.getElementById("graph");
if (graph) import(new URL("./graph.js", import.meta.url)).then((module) => module.draw(graph));
