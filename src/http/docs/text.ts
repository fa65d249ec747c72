/** Turns the description's texts into HTML: everything is escaped, and the little Markdown it uses is rendered. */
import { raw, html as tagged } from "hono/html";

/** Markup that is safe to put into a page. */
export type Html = Exclude<ReturnType<typeof tagged>, Promise<unknown>>;

/** Markup from a template whose values are escaped unless they are markup themselves. */
export const html = (strings: TemplateStringsArray, ...values: unknown[]): Html =>
  // Only a promise among the values would make this one, and the page has none.
  tagged(strings, ...values) as Html;

/** Finished markup, which is not escaped. */
export const markup = (text: string): Html => html`${raw(text)}`;

/** One line of text with its `code` and **bold** parts. */
export const inline = (text: string): Html[] =>
  text.split(/(\*\*[^*]+\*\*|`[^`]+`)/).map((part, index) => {
    if (index % 2 === 0) return html`${part}`;
    return part.startsWith("`")
      ? html`<code>${part.slice(1, -1)}</code>`
      : html`<strong>${part.slice(2, -2)}</strong>`;
  });

/** The paragraphs of a text. */
export const paragraphs = (text: string): string[] => text.split(/\n{2,}/);

/** A text of several paragraphs; nothing when there is none. */
export const prose = (text: string | undefined): Html[] =>
  text === undefined ? [] : paragraphs(text).map((paragraph) => html`<p>${inline(paragraph)}</p>`);

/** A place on the page, as `id` and as the target of a link. */
export const anchor = (kind: string, name: string): string => `${kind}-${name.replaceAll(/[^\w-]/g, "_")}`;
