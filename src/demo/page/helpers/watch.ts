/** Whether a page is watched: visible, and used in the last minutes. Pure: the page and the timer are given. */

/** A page that no one has used for so long is not watched. */
export const IDLE_MS = 3 * 60 * 1000;

/** What is needed of a document. */
export interface Watchable extends Pick<EventTarget, "addEventListener" | "removeEventListener"> {
  readonly hidden: boolean;
}

/** Calls `act` once after so many milliseconds, unless the function that it returns is called before. */
export type Later = (act: () => void, ms: number) => () => void;

const SIGNS = ["visibilitychange", "pointermove", "pointerdown", "keydown"];

/** Tells at once, and then at each sign, whether the page is watched. Returns what ends it. */
export function watchPage(page: Watchable, later: Later, tell: (isWatched: boolean) => void): () => void {
  let stopWaiting = () => {};
  const look = () => {
    stopWaiting();
    tell(!page.hidden);
    if (!page.hidden) stopWaiting = later(() => tell(false), IDLE_MS);
  };
  for (const sign of SIGNS) page.addEventListener(sign, look);
  look();
  return () => {
    stopWaiting();
    for (const sign of SIGNS) page.removeEventListener(sign, look);
  };
}
