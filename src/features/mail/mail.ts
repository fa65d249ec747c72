/** Texts of mails, plain and as simple HTML. Pure. */
import { cut } from "@atrium/contract/text.ts";

export interface Mail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Further headers, by their names. */
  readonly headers?: Readonly<Record<string, string>>;
}

interface Link {
  readonly label: string;
  readonly url: string;
}

/** A mail before it is laid out. All of it is plain text; each item is a paragraph. */
interface Letter {
  readonly subject: string;
  readonly paragraphs: readonly (string | Link)[];
  /** The link for the reader. */
  readonly link?: Link | undefined;
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

const linkOf = ({ label, url }: Link, style = ""): string =>
  `<p><a href="${escapeHtml(url)}"${style && ` style="${style}"`}>${escapeHtml(label)}</a></p>`;

/** Lays out a letter. The HTML loads nothing, and shows the link's address as well. */
export function layOut({ subject, paragraphs, link, after }: Letter): Mail {
  const html = [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">`,
    `<title>${escapeHtml(subject)}</title></head><body style="${PAGE}">`,
    ...paragraphs.map((each) => (typeof each === "string" ? paragraphOf(each) : linkOf(each))),
    ...(link === undefined ? [] : [linkOf(link, BUTTON), `<p style="${SMALL}">${escapeHtml(link.url)}</p>`]),
    ...after.map((text) => paragraphOf(text, SMALL)),
    "</body></html>",
  ].join("\n");
  const lines = paragraphs.map((each) => (typeof each === "string" ? each : `${each.label}: ${each.url}`));
  const text = `${[...lines, ...(link === undefined ? [] : [link.url]), ...after].join("\n\n")}\n`;
  return { subject, text, html };
}

/** Longer names are cut: they are chosen by others than the reader. */
const MAX_NAME_LENGTH = 60;

/** Marks that turn the direction of what follows, and others that are never seen. Joiners and the parts of emoji are needed. */
const DIRECTIONS = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;
const BREAKS = /[\s\p{Cc}\p{Cs}]+/gu;

/** A name that a customer chose, or another text, on one line and of a bounded length. */
export function nameInMail(name: string, maxLength = MAX_NAME_LENGTH): string {
  const line = name.replace(DIRECTIONS, "").replace(BREAKS, " ").trim();
  return line.length > maxLength ? `${cut(line, maxLength - 1).trimEnd()}…` : line;
}
