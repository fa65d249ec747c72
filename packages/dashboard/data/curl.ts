/** Shell commands for the actions of a page. Pure. */

/** The organization and the key of the requests. */
interface Account {
  readonly serverUrl: string;
  readonly accountId: string;
  readonly apiKey: string;
}

/** A request; the fields of a form are texts such as `roomId=…`. */
type Command = readonly [method: string, path: string, body?: object | readonly string[]];

/** The `curl` command of a request. */
export function curlOf({ serverUrl, accountId, apiKey }: Account, [method, path, body]: Command): string {
  const key = `-H "Authorization: Bearer $(printf %s '${accountId}:${apiKey}' | base64 | tr -d '\\n')"`;
  const sent = Array.isArray(body)
    ? body.map((field) => `-F '${field}'`)
    : body === undefined
      ? []
      : ['-H "Content-Type: application/json"', `-d '${JSON.stringify(body)}'`];
  return [`curl -X ${method} ${serverUrl}/v1/accounts/${accountId}${path}`, key, ...sent].join(" \\\n  ");
}
