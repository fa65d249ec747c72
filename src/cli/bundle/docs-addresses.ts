/** Where each document is served, and where the links between them lead. */
import path from "node:path";
import type { RenderedPage } from "./docs-markdown.ts";

/** Its list of pages is the navigation. */
export const INDEX = "docs/README.md";
/** Documents beside `docs`, where the places that tools look at want them. */
export const OUTSIDE: Readonly<Record<string, string>> = {
  "README.md": "/docs/readme",
  "CONTRIBUTING.md": "/docs/contributing",
  "SECURITY.md": "/docs/security",
};

export interface Page extends RenderedPage {
  readonly address: string;
}

/** Where the service has a file of the repository; null when it does not serve it. */
export function addressOf(file: string): string | null {
  const known = OUTSIDE[file];
  if (known !== undefined) return known;
  if (!/^docs\/.*\.(md|png)$/.test(file)) return null;
  return `/${file.replace(/(\/README)?\.md$/, "")}`;
}

/** The address of what a link in `from` names. */
export function resolveLink(from: string, target: string): string | null {
  const [file = "", anchor] = target.split("#");
  const address = addressOf(path.posix.join(path.posix.dirname(from), file));
  return address === null || anchor === undefined ? address : `${address}#${anchor}`;
}
