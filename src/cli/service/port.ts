/** Tells whether a port is free before anything is started for it. */
import { createServer } from "node:net";

/** `localhost` means both loopback addresses; the wildcard finds who listens on all of them. */
const HOSTS = ["127.0.0.1", "::1", "::"];

/** Why nothing can listen on the port (`EADDRINUSE`, `EACCES`), or null when something can. */
export async function findPortProblem(port: number): Promise<string | null> {
  for (const host of HOSTS) {
    const problem = await tryToListen(port, host);
    // Any other problem is an address family that this machine does not have.
    if (problem === "EADDRINUSE" || problem === "EACCES") return problem;
  }
  return null;
}

function tryToListen(port: number, host: string): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "UNKNOWN"));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(null)));
  });
}
