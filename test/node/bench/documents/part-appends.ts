/** Storing: how many updates of one client are acknowledged a second. */
import { calm } from "../gauge.ts";
import { median } from "../load.ts";
import { inTurns, type Section } from "../room/turns.ts";
import type { BenchOptions } from "../run.ts";
import { count, table } from "../table.ts";
import { DocumentSocket, isApplied, Typist } from "./document-socket.ts";
import type { DocumentServer } from "./subjects.ts";

/** A room takes 200 frames a second of a socket, after 1,000 at once: a client that keeps within its pace. */
const UPDATES = 900;
/** Sent without an acknowledgement. */
const UNDER_WAY = 64;

export async function measureAppends(
  servers: readonly DocumentServer[],
  options: BenchOptions,
): Promise<Section> {
  const acknowledging = servers.filter(({ hasStatus }) => hasStatus);
  const measured = await inTurns(acknowledging, options, (server) => append(server, options.stop));
  const rows = measured.map(({ name, runs }) => [
    name,
    count(median(runs)),
    name.includes("Atrium") ? "on disk" : "in memory",
  ]);
  const title = `${count(UPDATES)} updates of one key, ${UNDER_WAY} under way`;
  return { markdown: table([title, "acknowledged/s", "when"], rows), raw: { measured } };
}

async function append(server: DocumentServer, stop: AbortSignal): Promise<number> {
  const socket = await DocumentSocket.open(await server.addressOf(crypto.randomUUID()));
  const typist = new Typist();
  const updates = Array.from({ length: UPDATES }, () => typist.type("x"));
  await calm(server.pid, stop);
  const startedAt = performance.now();
  await socket.waitFor((done) => {
    let answered = 0;
    const send = () => {
      const update = updates.shift();
      if (update !== undefined) socket.sendUpdate(update);
    };
    socket.onFrame = (frame) => {
      if (!isApplied(frame)) return;
      answered += 1;
      if (answered === UPDATES) done();
      send();
    };
    for (let index = 0; index < UNDER_WAY; index += 1) send();
  });
  const seconds = (performance.now() - startedAt) / 1_000;
  socket.close();
  await calm(server.pid, stop);
  return UPDATES / seconds;
}
