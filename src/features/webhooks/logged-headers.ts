/** What a delivery's log keeps of the headers of a request and its response: some of them, and never a secret. Pure. */

/** Names of headers that may have a secret: credentials, cookies and signatures. */
const SECRET = /auth|cookie|csrf|key|password|secret|session|signature|token/i;
const MAX_HEADERS = 30;
const MAX_VALUE_LENGTH = 256;
/** Of names and values together. */
const MAX_CHARACTERS = 2_048;

/** The headers that may be shown, as far as they fit; their names in lower case. */
export function loggedHeaders(headers: Iterable<readonly [string, string]>): Record<string, string> {
  const kept = [...headers]
    .filter(([name]) => !SECRET.test(name))
    .map(([name, value]) => [name.toLowerCase(), value.slice(0, MAX_VALUE_LENGTH)] as const)
    .slice(0, MAX_HEADERS);
  let characters = 0;
  const end = kept.findIndex(([name, value]) => {
    characters += name.length + value.length;
    return characters > MAX_CHARACTERS;
  });
  return Object.fromEntries(end === -1 ? kept : kept.slice(0, end));
}
