/** The other participants of the board bench: a process of its own, whose clients move as hands do. */

import { AtriumClient } from "atrium/client";
import { wayBetween } from "../../../../examples/demo/helpers/motion.ts";

export interface Crowd {
  readonly serverUrl: string;
  readonly tokens: readonly string[];
}

/** A step of a movement; the SDK sends presence at most as often. */
const STEP_MS = 50;
/** Size of a usual board, laid out on a grid around its middle. */
const [NOTES, SHAPES] = [20, 100];

const random = (reach: number): number => Math.round((Math.random() - 0.5) * 2 * reach);
const somewhere = () => ({ x: random(600), y: random(350) });

async function fill(client: AtriumClient): Promise<void> {
  const text = "Something that someone has written";
  for (let index = 0; index < NOTES; index += 1)
    await client.store("notes").set(`note-${index}`, { ...somewhere(), text, picture: "" });
  for (let index = 0; index < SHAPES; index += 1) {
    const points = wayBetween(somewhere(), somewhere(), Math.random).flatMap(({ x, y }) => [x, y]);
    await client.store("shapes").set(`shape-${index}`, { kind: "pen", tint: index % 6, points });
  }
}

function move(client: AtriumClient): void {
  let at = somewhere();
  let way: (typeof at)[] = [];
  setInterval(() => {
    if (way.length === 0) way = wayBetween(at, somewhere(), Math.random);
    at = way.shift() ?? at;
    client.presence.update({ cursor: at });
  }, STEP_MS);
}

process.once("disconnect", () => process.exit());
process.once("message", async ({ serverUrl, tokens }: Crowd) => {
  const clients = await Promise.all(
    tokens.map(async (authToken) => {
      const client = new AtriumClient({ serverUrl, authToken });
      await client.join();
      return client;
    }),
  );
  const [first] = clients;
  if (first !== undefined) await fill(first);
  for (const client of clients) move(client);
  process.send?.("moving");
});
