/** Makes something expensive once for all test files, when the first of them asks for it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface MadeOnce<Made> {
  /** The URL at which test files, which run in other processes, ask for it (see {@link askFor}). */
  readonly url: string;
  /** Undefined when no test file asked. */
  readonly made: () => Promise<Made> | undefined;
  readonly close: () => void;
}

/** Answers requests with the result of `make`, as JSON. */
export async function makeOnce<Made>(make: () => Promise<Made>): Promise<MadeOnce<Made>> {
  let making: Promise<Made> | undefined;
  const server = createServer(async (_, response) => {
    making ??= make();
    try {
      response.end(JSON.stringify(await making));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, made: () => making, close: () => server.close() };
}

/** The result, without its functions. Throws if it could not be made. */
export async function askFor<Made>(url: string): Promise<Made> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Made;
}
