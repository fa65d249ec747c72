/** The request that a reader has filled in. Pure: the page's script sends it, and the tests read it. */

export interface Filled {
  readonly name: string;
  readonly in: string;
  readonly value: string | File;
}

export interface Credential {
  readonly accountId: string;
  /** Null for the cookie, and for requests that need no credential. */
  readonly bearer: string | null;
}

export interface TryRequest {
  readonly method: string;
  /** Begins with a slash: requests go to the page's own service. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | FormData | null;
}

/** An API key as the credential of a request: it is sent with its organization's ID. */
export const keyBearer = (accountId: string, apiKey: string): string =>
  btoa(String.fromCharCode(...new TextEncoder().encode(`${accountId}:${apiKey}`)));

/** An incomplete form; the message names the problem. */
export class IncompleteFormError extends Error {}

/** Throws {@link IncompleteFormError} for a value that cannot be sent. */
export function buildRequest(
  method: string,
  template: string,
  fields: readonly Filled[],
  { accountId, bearer }: Credential,
): TryRequest {
  const given = fields.filter(({ value }) => value !== "");
  const of = (place: string) => given.filter((field) => field.in === place);
  const params = new Map([
    ["accountId", accountId],
    ...of("path").map(({ name, value }) => [name, `${value}`] as const),
  ]);
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    segmentOf(name, params.get(name) ?? ""),
  );
  const query = new URLSearchParams(of("query").map(({ name, value }) => [name, `${value}`]));
  const body = bodyOf(of("body"), of("form"));
  return {
    method,
    path: query.size === 0 ? path : `${path}?${query}`,
    headers: {
      ...(bearer === null ? {} : { Authorization: `Bearer ${bearer}` }),
      ...(typeof body === "string" ? { "Content-Type": "application/json" } : {}),
      ...Object.fromEntries(of("header").map(({ name, value }) => [name, `${value}`])),
    },
    body,
  };
}

function segmentOf(name: string, value: string): string {
  if (value === "") throw new IncompleteFormError(`${name} is missing.`);
  // A URL would take them for steps through the path, and lead to another operation.
  if (value === "." || value === "..") throw new IncompleteFormError(`${name} must not be “${value}”.`);
  return encodeURIComponent(value);
}

function bodyOf(json: readonly Filled[], form: readonly Filled[]): string | FormData | null {
  if (form.length > 0) {
    const data = new FormData();
    for (const { name, value } of form) data.append(name, value);
    return data;
  }
  const text = json[0]?.value;
  if (typeof text !== "string") return null;
  try {
    JSON.parse(text);
  } catch {
    throw new IncompleteFormError("The body is not JSON.");
  }
  return text;
}

/** The request as text, with the credential left out. */
export function describeRequest({ method, path, headers, body }: TryRequest): string {
  const lines = Object.entries(headers).map(([name, value]) =>
    name === "Authorization" ? "Authorization: Bearer …" : `${name}: ${value}`,
  );
  const sent =
    body instanceof FormData
      ? [...body]
          .map(([name, value]) => `${name}: ${typeof value === "string" ? value : value.name}`)
          .join("\n")
      : body;
  return [`${method} ${path}`, ...lines, ...(sent === null ? [] : ["", sent])].join("\n");
}
