/** A `curl` command that creates a room. */

export function firstRequest(origin: string, accountId: string, apiKey: string): string {
  return [
    `curl -X POST ${origin}/v1/accounts/${accountId}/rooms \\`,
    `  -H "Authorization: Bearer $(printf %s '${accountId}:${apiKey}' | base64 | tr -d '\\n')" \\`,
    '  -H "Content-Type: application/json" \\',
    `  -d '{"name":"My first room"}'`,
  ].join("\n");
}
