/** The application of the opening part: a process of its own, because the bench's own process also hosts the service. */
import { AtriumClient } from "atrium/client";
import { Board } from "./board.ts";
import { type Spent, spend } from "./spend.ts";

/** A task: open the board's store with a user's token, or read and parse a text. */
export type Task =
  | { readonly type: "open"; readonly serverUrl: string; readonly token: string }
  | { readonly type: "read"; readonly url: string };

/** Cost of a task, and the number of entries found. */
export interface Outcome {
  readonly spent: Spent;
  readonly entries: number;
}

/** The latest result, which an application would keep. */
let latest: unknown;

/** Forgets the latest one, and all garbage: each run pays for its own. */
function forget(): void {
  latest = undefined;
  globalThis.gc?.();
}

async function open({ serverUrl, token }: Extract<Task, { type: "open" }>): Promise<Outcome> {
  const client = new AtriumClient({ serverUrl, authToken: token });
  await client.join();
  forget();
  const spent = await spend(() => Board.shapesOf(client).sync());
  latest = client;
  const entries = Object.keys(Board.shapesOf(client).getAll()).length;
  client.disconnect();
  return { spent, entries };
}

async function read({ url }: Extract<Task, { type: "read" }>): Promise<Outcome> {
  forget();
  const spent = await spend(async () => {
    latest = await (await fetch(url)).json();
  });
  return { spent, entries: Object.keys(Object(latest)).length };
}

process.on("message", async (task: Task) => {
  process.send?.(await (task.type === "open" ? open(task) : read(task)));
});
