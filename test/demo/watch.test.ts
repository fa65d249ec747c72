/** Who watches a board: helpers cost connections, and leave a page that no one looks at. */
import { expect, it } from "vitest";
import { IDLE_MS, watchPage } from "../../src/demo/page/helpers/watch.ts";

class Page extends EventTarget {
  hidden = false;

  show(isShown: boolean): void {
    this.hidden = !isShown;
    this.dispatchEvent(new Event("visibilitychange"));
  }
}

function watched(page: Page) {
  const told: boolean[] = [];
  const waiting = new Map<() => void, number>();
  const stop = watchPage(
    page,
    (act, ms) => {
      waiting.set(act, ms);
      return () => waiting.delete(act);
    },
    (isWatched) => told.push(isWatched),
  );
  return { told, waiting, stop };
}

it("a page is watched while it is visible", () => {
  const page = new Page();
  const { told, waiting } = watched(page);
  page.show(false);
  expect([told, waiting.size]).toEqual([[true, false], 0]);
  page.dispatchEvent(new Event("keydown"));
  page.show(true);
  expect(told).toEqual([true, false, false, true]);
});

it("a visible page is watched until it was not used for minutes, and again with the next sign", () => {
  const page = new Page();
  const { told, waiting, stop } = watched(page);
  page.dispatchEvent(new Event("pointermove"));
  expect([...waiting.values()]).toEqual([IDLE_MS]);
  for (const act of waiting.keys()) act();
  page.dispatchEvent(new Event("pointerdown"));
  expect(told).toEqual([true, true, false, true]);
  stop();
  page.show(false);
  expect([told.length, waiting.size]).toEqual([4, 0]);
});
