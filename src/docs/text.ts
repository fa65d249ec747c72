/** HTML from the description's texts: everything is escaped, and the little Markdown in them is rendered. */
import { raw, html as tagged } from "hono/html";

/** Markup that is safe in a page. */
export type Html = Exclude<ReturnType<typeof tagged>, Promise<unknown>>;

/** Markup from a template; values are escaped unless they are markup. */
export const html = (strings: TemplateStringsArray, ...values: unknown[]): Html =>
  // The result is a promise only if one of the values is.
  tagged(strings, ...values) as Html;

/** Finished markup, which is not escaped. */
export const markup = (text: string): Html => html`${raw(text)}`;

/** A line of text with its `code` and **bold** parts. */
export const inline = (text: string): Html[] =>
  text.split(/(\*\*[^*]+\*\*|`[^`]+`)/).map((part, index) => {
    if (index % 2 === 0) return html`${part}`;
    return part.startsWith("`")
      ? html`<code>${part.slice(1, -1)}</code>`
      : html`<strong>${part.slice(2, -2)}</strong>`;
  });

/** The paragraphs of a text. */
export const paragraphs = (text: string): string[] => text.split(/\n{2,}/);

/** A text of several paragraphs; nothing for undefined. */
export const prose = (text: string | undefined): Html[] =>
  text === undefined ? [] : paragraphs(text).map((paragraph) => html`<p>${inline(paragraph)}</p>`);

/** The id of a place on the page. */
export const anchor = (kind: string, name: string): string => `${kind}-${name.replaceAll(/[^\w-]/g, "_")}`;
