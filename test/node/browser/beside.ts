/** Windows beside each other in one picture, each with a title. */
import type { Page } from "playwright-core";

const STYLE = `
  body { display: flex; gap: 20px; margin: 0; padding: 20px; background: #dfe4ec; font: 14px/1.7 system-ui, sans-serif; }
  figure { flex: none; overflow: hidden; width: 500px; margin: 0; border-radius: 10px; background: #fff; }
  figcaption { padding: 5px 14px; background: #f5f7fa; border-bottom: 1px solid #dfe4ec; color: #566075; }
  img { display: block; width: 100%; }
  pre { min-height: 346px; margin: 0; padding: 12px 14px; background: #10141b; color: #e3e8f0; font: 20px/1.7 monospace; white-space: pre-wrap; }
  b { color: #7fdcb9; font-weight: 400; }`;

export interface Window {
  readonly title: string;
  /** HTML. */
  readonly content: string;
}

/** A page's window as it is now. */
export async function pictureOf(title: string, page: Page): Promise<Window> {
  const picture = (await page.screenshot()).toString("base64");
  return { title, content: `<img alt="" src="data:image/png;base64,${picture}">` };
}

/** The HTML that shows the windows. */
export function showBeside(windows: readonly Window[]): string {
  const figures = windows.map(
    ({ title, content }) => `<figure><figcaption>${title}</figcaption>${content}</figure>`,
  );
  return `<!doctype html><style>${STYLE}</style>${figures.join("")}`;
}
