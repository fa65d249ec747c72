/** Puts the live board into the windows of the front page: one after the other, once they are in view and the page is idle. */
import { idle, inView, newCode } from "../browser/coming.ts";
import { element } from "../browser/elements.ts";

/** Keeps the code of this tab's board, to which a reload comes back. */
const KEY = "front-board";

const code = sessionStorage.getItem(KEY) ?? newCode();
sessionStorage.setItem(KEY, code);

/** Loads the board behind the picture of it, and shows it when it says so. Without a live board, the picture stays. */
function showBoard(box: HTMLElement): Promise<void> {
  const { name = "", seat = "" } = box.dataset;
  const frame = element("iframe");
  // The demo keeps a visitor for each: frames share their storage.
  frame.name = seat;
  frame.title = `The board, as ${name} sees it`;
  frame.src = `/demo?${new URLSearchParams({ room: code, name })}`;
  const shown = new Promise<void>((resolve) => {
    addEventListener("message", ({ source, origin, data }) => {
      if (source !== frame.contentWindow || origin !== location.origin) return;
      box.classList.toggle("live", data === "shown");
      if (data === "shown") resolve();
      else sessionStorage.removeItem(KEY);
    });
  });
  box.querySelector(".view")?.appendChild(frame);
  return shown;
}

await idle();
for (const box of document.querySelectorAll<HTMLElement>(".window")) {
  await inView(box);
  await showBoard(box);
  document.querySelector("#open")?.setAttribute("href", `/demo?room=${code}`);
}
