/** What is said where programs have no processes of their own. */

const CONSEQUENCE =
  "runs workflows in the service's own process: only their wall time is bounded, and an endless loop stops everything.";

/** On the terminal of `wrangler dev`. */
export const DEV_WARNING = `wrangler dev ${CONSEQUENCE} npm start gives each a process of its own.`;

/** On that of `npm start` on Windows, where workerd has no Unix sockets. */
export const WINDOWS_WARNING = `On Windows, npm start ${CONSEQUENCE} Under WSL each has a process of its own.`;
