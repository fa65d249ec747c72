/** Finds out whether a port is free before anything is started for it. */
import { createServer } from "node:net";

/** `localhost` means both loopback addresses; the wildcard finds programs that listen on all addresses. */
const HOSTS = ["127.0.0.1", "::1", "::"];

export type PortProblem = "EADDRINUSE" | "EACCES";

/** Why the service cannot listen on the port, or null when it can. */
export async function findPortProblem(port: number): Promise<PortProblem | null> {
  for (const host of HOSTS) {
    const problem = await tryToListen(port, host);
    // Other problems mean that this machine lacks the address family.
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
