/** Texts of mails, plain and as simple HTML. Pure. */

export interface Mail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** A mail before it is laid out. All of it is plain text; each item is a paragraph. */
interface Letter {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** The link for the reader. */
  readonly link: { readonly label: string; readonly url: string };
  /** The text after the link. */
  readonly after: readonly string[];
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);

const PAGE = "margin:0 auto;max-width:34rem;padding:24px;font:16px/1.5 system-ui,sans-serif";
const BUTTON =
  "display:inline-block;padding:10px 18px;border-radius:6px;background:#3b5bdb;color:#ffffff;text-decoration:none";
const SMALL = "font-size:14px;opacity:.75;overflow-wrap:anywhere";

const paragraphOf = (text: string, style = ""): string =>
  `<p${style && ` style="${style}"`}>${escapeHtml(text)}</p>`;

/** Lays out a letter. The HTML loads nothing, and shows the link's address as well. */
export function layOut({ subject, paragraphs, link, after }: Letter): Mail {
  const url = escapeHtml(link.url);
  const html = [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">`,
    `<title>${escapeHtml(subject)}</title></head><body style="${PAGE}">`,
    ...paragraphs.map((text) => paragraphOf(text)),
    `<p><a href="${url}" style="${BUTTON}">${escapeHtml(link.label)}</a></p>`,
    `<p style="${SMALL}">${url}</p>`,
    ...after.map((text) => paragraphOf(text, SMALL)),
    "</body></html>",
  ].join("\n");
  return { subject, text: `${[...paragraphs, link.url, ...after].join("\n\n")}\n`, html };
}

/** Longer names are cut: they are chosen by others than the reader. */
const MAX_NAME_LENGTH = 60;

/** A name that a customer chose, on one line and of a bounded length. */
export function nameInMail(name: string): string {
  const line = name.replace(/[\s\p{C}]+/gu, " ").trim();
  return line.length > MAX_NAME_LENGTH ? `${line.slice(0, MAX_NAME_LENGTH - 1).trimEnd()}…` : line;
}
