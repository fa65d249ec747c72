/** The credentials in the API reference, and where each goes in a request. */
import type { Described, SecurityScheme } from "./model.ts";
import { anchor, type Html, html, prose } from "./text.ts";

/** The document spells a scheme in lower case, as its registry does; requests capitalize it. */
const capitalized = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);

/** Where a credential goes in a request. */
const placeOf = ({ in: place, name, scheme, bearerFormat }: SecurityScheme): Html =>
  place === "cookie"
    ? html`<code>Cookie: ${name ?? ""}</code>`
    : html`<code>Authorization: ${capitalized(scheme ?? "")}</code> ${bearerFormat ?? ""}`;

export function credentials(described: Described): Html {
  const schemes = Object.entries(described.components?.securitySchemes ?? {});
  return html`<section id="credentials" aria-labelledby="credentials-title">
    <h2 id="credentials-title">Credentials</h2>
    <p>In the samples, <code>$BASE_URL</code> is the address of this service, and <code>$BEARER</code> one of the credentials for <code>Authorization</code>.</p>
    ${schemes.map(
      ([name, scheme]) => html`<article id="${anchor("credential", name)}">
        <h3>${name}</h3>
        <p class="callers">${placeOf(scheme)}</p>
        ${prose(scheme.description)}
      </article>`,
    )}
  </section>`;
}
