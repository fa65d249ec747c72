/** Asks for what the overview shows while its code is still on the way; the requests of the page then take these answers. */

import type { EarlyAnswers } from "./early-answers.ts";

/** Older answers may no longer be true. */
const KEPT_MS = 10_000;

const accountId = location.pathname.split("/")[2] || localStorage.getItem("organization");
const organization = `/v1/accounts/${accountId}`;
// A page whose code the browser already has asks for the session itself.
const hasBegun = document.getElementById("root")?.hasChildNodes() === true;
const paths = [
  ...(hasBegun ? [] : ["/dashboard/api/session"]),
  ...(accountId ? [`${organization}/overview`, `${organization}/api-keys?limit=1&sort=-last_used_at`] : []),
];
const answers: EarlyAnswers = new Map(paths.map((path) => [location.origin + path, fetch(path)]));
// After a failure, the page sends a request of its own.
for (const answer of answers.values()) answer.catch(() => undefined);
globalThis.earlyAnswers = answers;
setTimeout(() => answers.clear(), KEPT_MS);
