/** What `npm start` prints once the service runs. */
import type { Demo } from "./demo.ts";
import { bearerOf } from "./organization.ts";

function demoLine(url: string, hasDemo: boolean): string {
  if (process.env.ATRIUM_DEMO_ACCOUNT_ID === "") return "There is no demo: ATRIUM_DEMO_ACCOUNT_ID is empty";
  return hasDemo
    ? `The demo is at ${url}/demo: a board of your own, with a link for others`
    : "The demo will be available after the next start";
}

export const banner = (url: string, { signIn, ...credentials }: Demo, hasDemo: boolean): string => `
Atrium is ready at ${url}, its documentation at ${url}/docs
${demoLine(url, hasDemo)}

Sign in to the dashboard at ${url}/dashboard

  Email       ${signIn.email}
  Password    ${signIn.password}

Use the REST API as its organization:

  Account ID  ${credentials.accountId}
  API key     ${credentials.apiKey}

Create a room:

curl -X POST ${url}/v1/accounts/${credentials.accountId}/rooms \\
  -H "Authorization: Bearer ${bearerOf(credentials)}" \\
  -H "Content-Type: application/json" \\
  -d '{"name":"My first room"}'

Ctrl-C stops it.
`;
