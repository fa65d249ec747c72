/** The page of a quickstart as a frame beside its code shows it: the code's own `index.html`, with its styles and scripts in files. */

const ICON = /<link rel="icon"[^>]*>/;
const STYLE_FILE = /^ *<link rel="stylesheet" href="\/([^"]+)">\n/m;
const STYLE = /^ *<style>\n([\s\S]*?)^ *<\/style>\n/m;
const SCRIPT = /^( *)<script type="module" src="\/([^"]+)"><\/script>\n/m;

/** Where the service has the page of a quickstart. */
export const liveAddress = (name: string): string => `/docs/live/${name}`;

/** A page, and what its script and its style sheet are made from. */
export interface LivePage {
  /** Loads both from `assets`. */
  readonly html: string;
  /** The file of the script. */
  readonly script: string;
  /** The file of the style sheet, if it has one; the page's own styles come behind it. */
  readonly styles: string | undefined;
  readonly ownStyles: string;
}

/** Takes the page apart, as pages without inline styles need. `assets` is the address of its files, without an extension. */
export function livePageOf(index: string, assets: string): LivePage {
  const [, , script] = SCRIPT.exec(index) ?? [];
  if (script === undefined) throw new Error("index.html loads no script");
  const [, styles] = STYLE_FILE.exec(index) ?? [];
  const [, ownStyles = ""] = STYLE.exec(index) ?? [];
  const html = index
    .replace(ICON, '<link rel="icon" href="/assets/style/mark.svg">')
    .replace(STYLE_FILE, "")
    .replace(STYLE, "")
    .replace(
      SCRIPT,
      `$1<link rel="stylesheet" href="${assets}.css">\n$1<script type="module" src="${assets}.js"></script>\n`,
    );
  return { html, script, styles, ownStyles };
}
