/** Typing together: the delay of a key at the others, and its cost for the server. */
import { calm } from "../gauge.ts";
import { median } from "../load.ts";
import { inTurns, middle, type Section } from "../room/turns.ts";
import { watchUsage } from "../room/usage.ts";
import type { BenchOptions } from "../run.ts";
import { table } from "../table.ts";
import { DocumentSocket, Typist, updateIn } from "./document-socket.ts";
import type { DocumentServer } from "./subjects.ts";

const PEOPLE = 50;
const KEYS_PER_SECOND = 5;
const decoder = new TextDecoder("latin1");

interface Run {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly cores: number | null;
  /** Share among the keys of the person who is watched. */
  readonly share: number;
}

export async function measureTyping(
  servers: readonly DocumentServer[],
  options: BenchOptions,
): Promise<Section> {
  const measured = await inTurns(servers, options, (server, seconds) => type(server, seconds, options.stop));
  const rows = measured.map(({ name, runs }) => [
    name,
    median(runs.map(({ p50Ms }) => p50Ms)).toFixed(1),
    median(runs.map(({ p95Ms }) => p95Ms)).toFixed(1),
    (middle(runs, ({ cores }) => cores) ?? Number.NaN).toFixed(2),
    `${(100 * Math.min(...runs.map(({ share }) => share))).toFixed(0)} %`,
  ]);
  const title = `${PEOPLE} people type ${KEYS_PER_SECOND} keys/s in one document`;
  const markdown = table([title, "p50 (ms)", "p95 (ms)", "cores", "received"], rows);
  return { markdown, raw: { measured } };
}

async function type(server: DocumentServer, seconds: number, stop: AbortSignal): Promise<Run> {
  const document = crypto.randomUUID();
  const sockets: DocumentSocket[] = [];
  try {
    for (let person = 0; person < PEOPLE; person += 1)
      sockets.push(await DocumentSocket.open(await server.addressOf(document)));
    await calm(server.pid, stop);
    return await typeAll(server, sockets, seconds);
  } finally {
    for (const socket of sockets) socket.close();
    await calm(server.pid, stop);
  }
}

/** Watches how the first person's keys reach the last one: each has a number of its own. */
async function typeAll(
  server: DocumentServer,
  sockets: readonly DocumentSocket[],
  seconds: number,
): Promise<Run> {
  const typists = sockets.map(() => new Typist());
  const sentAt: number[] = [];
  const delays: number[] = [];
  const watcher = sockets.at(-1);
  if (watcher !== undefined)
    watcher.onFrame = (frame) => {
      const update = updateIn(frame);
      const number = update && /<(\d+)>/.exec(decoder.decode(update))?.[1];
      const sent = number ? sentAt[Number(number)] : undefined;
      if (sent !== undefined) delays.push(performance.now() - sent);
    };
  const usage = watchUsage(server.pid);
  const keys = Math.ceil(seconds * KEYS_PER_SECOND);
  const intervalMs = 1_000 / KEYS_PER_SECOND;
  await Promise.all(
    sockets.map(async (socket, person) => {
      await new Promise((resolve) => setTimeout(resolve, (person * intervalMs) / PEOPLE));
      for (let key = 0; key < keys; key += 1) {
        const startedAt = performance.now();
        if (person === 0) sentAt.push(startedAt);
        socket.sendUpdate(typists[person]?.type(person === 0 ? `<${key}>` : "x") ?? new Uint8Array());
        await new Promise((resolve) => setTimeout(resolve, intervalMs - (performance.now() - startedAt)));
      }
    }),
  );
  const { cores } = usage();
  const sorted = delays.sort((one, other) => one - other);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return { p50Ms: at(0.5), p95Ms: at(0.95), cores, share: sorted.length / keys };
}
