/** The live result of a quickstart: its own page in two windows, in place of the picture once both have joined one room. */
import type { LiveState } from "../live/server.ts";
import { idle, inView, newCode } from "./coming.ts";
import { element } from "./elements.ts";

const PEOPLE = ["Ada", "Bo"];
const CAPTION = "Live: what you do in one window shows in the other. Each load of this page begins anew.";

/** How long a window may take until its picture stays instead. */
const PATIENCE_MS = 20_000;

/**
 * `result` has the picture and names the page. Where a window fails, the picture stays, without the room for windows.
 * Windows whose room has ended give way to others in another room.
 */
export async function showLive(result: HTMLElement): Promise<void> {
  const { live } = result.dataset;
  await idle();
  await inView(result, "50%");
  const room = newCode();
  const pair = element("div");
  pair.className = "pair";
  const windows = element("div", pair, element("p", CAPTION));
  windows.className = "windows";
  result.appendChild(windows);
  const frames: HTMLIFrameElement[] = [];
  for (const name of PEOPLE) {
    const frame = element("iframe");
    frames.push(frame);
    frame.title = `The page, as ${name} sees it`;
    frame.src = `${live}?${new URLSearchParams({ room, name })}`;
    pair.appendChild(windowOf(name, frame));
    if (await hasFailed(frame)) {
      windows.remove();
      delete result.dataset.live;
      return;
    }
  }
  const unfollow = followTheme(frames);
  result.classList.add("live");
  await Promise.race(frames.map((frame) => said(frame, "ended")));
  unfollow();
  windows.remove();
  result.classList.remove("live");
  await showLive(result);
}

/** The pages in the frames have no theme of their own: theirs is the one that the reader has chosen here. */
function followTheme(frames: readonly HTMLIFrameElement[]): () => void {
  const root = document.documentElement;
  const follow = () => {
    const { colorScheme } = getComputedStyle(root);
    for (const { contentDocument } of frames)
      contentDocument?.documentElement.style.setProperty("color-scheme", colorScheme);
  };
  const watch = new MutationObserver(follow);
  watch.observe(root, { attributeFilter: ["data-theme"] });
  for (const frame of frames) frame.addEventListener("load", follow); // also when it is loaded anew
  follow();
  return () => watch.disconnect();
}

function windowOf(name: string, frame: HTMLIFrameElement): HTMLElement {
  const section = element("section", element("strong", name), frame);
  section.ariaLabel = `${name}'s window`;
  return section;
}

/** Resolves when the page in the frame has joined its room, or cannot. */
const hasFailed = async (frame: HTMLIFrameElement): Promise<boolean> => {
  const late = new Promise<"failed">((resolve) => setTimeout(resolve, PATIENCE_MS, "failed"));
  return (await Promise.race([said(frame, "shown", "failed"), late])) === "failed";
};

/** Resolves with the first of these states that the page in the frame reports. */
const said = (frame: HTMLIFrameElement, ...states: readonly LiveState[]): Promise<LiveState> =>
  new Promise((resolve) => {
    const listen = ({ source, origin, data }: MessageEvent) => {
      if (source !== frame.contentWindow || origin !== location.origin || !states.includes(data)) return;
      removeEventListener("message", listen);
      resolve(data);
    };
    addEventListener("message", listen);
  });
