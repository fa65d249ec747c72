/** What the commands that back up and restore say of a service that does not answer. */
import { createServer } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { OperatorClient } from "../../src/cli/archive/operator-client.ts";
import { OperatorToken } from "../../src/cli/archive/operator-token.ts";

const server = createServer((socket) => socket.destroy());
let url: string;

beforeEach(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

it("say at once where they wait for an answer, not only when they give up", async () => {
  const stop = new AbortController();
  const shown: string[] = [];
  const client = new OperatorClient({
    accountId: "acme",
    purpose: "backup",
    url,
    token: new OperatorToken(async () => {}),
    stop: stop.signal,
    show: (line) => {
      shown.push(line);
      stop.abort();
    },
  });
  await expect(client.send("begin")).rejects.toThrow("aborted");
  expect(shown).toEqual([`The service at ${url} does not answer: fetch failed. Waiting …`]);
});
