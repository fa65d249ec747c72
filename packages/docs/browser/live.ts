/** The live result of a quickstart: its own page in two windows, in place of the picture once both have joined one room. */
import { idle, inView, newCode } from "./coming.ts";
import { element } from "./elements.ts";

const PEOPLE = ["Ada", "Bo"];

/** `result` has the picture and names the page. Where a window fails, the picture stays, without the room for windows. */
export async function showLive(result: HTMLElement): Promise<void> {
  await idle();
  await inView(result, "50%");
  const room = newCode();
  const pair = element("div");
  pair.className = "pair";
  result.appendChild(pair);
  for (const name of PEOPLE) {
    const frame = element("iframe");
    frame.title = `The page, as ${name} sees it`;
    frame.src = `${result.dataset.live}?${new URLSearchParams({ room, name })}`;
    pair.appendChild(windowOf(name, frame));
    if (await hasFailed(frame)) {
      pair.remove();
      delete result.dataset.live;
      return;
    }
  }
  followTheme(pair);
  result.classList.add("live");
}

/** The pages in the frames have no theme of their own: theirs is the one that the reader has chosen here. */
function followTheme(pair: HTMLElement): void {
  const root = document.documentElement;
  const follow = () => {
    const { colorScheme } = getComputedStyle(root);
    for (const { contentDocument } of pair.querySelectorAll("iframe"))
      contentDocument?.documentElement.style.setProperty("color-scheme", colorScheme);
  };
  new MutationObserver(follow).observe(root, { attributeFilter: ["data-theme"] });
  follow();
}

function windowOf(name: string, frame: HTMLIFrameElement): HTMLElement {
  const section = element("section", element("strong", name), frame);
  section.ariaLabel = `${name}'s window`;
  return section;
}

/** Resolves when the page in the frame has joined its room, or cannot. */
const hasFailed = (frame: HTMLIFrameElement): Promise<boolean> =>
  new Promise((resolve) => {
    const listen = ({ source, origin, data }: MessageEvent) => {
      if (source !== frame.contentWindow || origin !== location.origin) return;
      removeEventListener("message", listen);
      resolve(data === "failed");
    };
    addEventListener("message", listen);
  });
