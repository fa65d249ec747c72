/** The streams bench: a token stream to many readers, and what it costs those who use the same room by socket. */
import { once } from "node:events";
import type { RawData, WebSocket } from "ws";
import { CommandError } from "../../../src/cli/process/command.ts";
import { sleep } from "../../../src/platform/flow/concurrency.ts";
import { inGroups, join, numbers, percentile } from "./live.ts";
import { Organization } from "./organization.ts";
import { measureParts, reportOf } from "./parts.ts";
import type { Section } from "./room/turns.ts";
import type { Bench, BenchOptions } from "./run.ts";
import { type Served, serving } from "./serve.ts";
import { count, ratio, table } from "./table.ts";

const [READERS, AT_ONCE, MEASURED_MS] = [200, 20, 10_000];
/** 50 tokens a second. */
const TOKEN_EVERY_MS = 20;
/** The busy room: a write of a store each 25 ms, of which everyone learns. */
const WRITE_EVERY_MS = 25;
const GOAL = 1.2;

export const bench: Bench = {
  parts: ["tokens"],
  run: (options) =>
    serving(["atrium"], options.stop, async (served) =>
      reportOf(await measureParts({ tokens }, served, options)),
    ),
};

/** Calls `work` at regular times from now on until it is over, whatever each call takes. */
async function paced(
  everyMs: number,
  isOver: () => boolean,
  work: (due: number) => Promise<void>,
): Promise<void> {
  const startedAt = performance.now();
  const running: Promise<void>[] = [];
  for (let turn = 0; !isOver(); turn += 1) {
    const due = startedAt + turn * everyMs;
    await sleep(Math.max(0, due - performance.now()));
    running.push(work(due));
  }
  await Promise.all(running);
}

/** How long each write of a store took, in milliseconds from when it was due. */
async function write(socket: WebSocket, isOver: () => boolean): Promise<number[]> {
  const times: number[] = [];
  const waiting = new Map<string, number>();
  const hear = (data: RawData) => {
    const { requestId } = JSON.parse(String(data)) as { requestId?: string };
    const due = waiting.get(requestId ?? "");
    if (due === undefined) return;
    times.push(performance.now() - due);
    waiting.delete(requestId ?? "");
  };
  socket.on("message", hear);
  await paced(WRITE_EVERY_MS, isOver, async (due) => {
    const requestId = crypto.randomUUID();
    waiting.set(requestId, due);
    const data = { store: "tasks", key: "position", value: { x: due } };
    socket.send(JSON.stringify({ type: "STORE_SET", requestId, data }));
  });
  while (waiting.size > 0) await once(socket, "message");
  socket.off("message", hear);
  return times;
}

interface Reader {
  /** When each token arrived, by its number. */
  readonly arrivals: Map<number, number>;
  readonly ended: Promise<void>;
}

async function read(url: string, headers: Record<string, string>, isOver: () => boolean): Promise<Reader> {
  const response = await fetch(`${url}?offset=now&live=sse`, { headers });
  const { body, status } = response;
  if (status !== 200 || body === null) throw new CommandError(`A read was refused: ${status}`);
  const arrivals = new Map<number, number>();
  const ended = (async () => {
    for await (const text of body.pipeThrough(new TextDecoderStream())) {
      for (const [, token] of text.matchAll(/t(\d+) /g)) arrivals.set(Number(token), performance.now());
      if (isOver()) return;
    }
  })();
  return { arrivals, ended };
}

async function tokens({ origin: originOf, db }: Served, { progress }: BenchOptions): Promise<Section> {
  const origin = originOf("atrium");
  const organization = await Organization.create(db, origin);
  const roomId = await organization.createRoom("Chat");
  const token = await organization.createUser("Ada", roomId);
  const { socket } = await join(origin, organization, `rooms/${roomId}/socket`, token);
  const { headers } = organization;
  const url = `${origin}/v1/accounts/${organization.accountId}/rooms/${roomId}/streams/answer`;
  const text = { ...headers, "Content-Type": "text/plain" };
  await fetch(url, { method: "PUT", headers: text });

  const until = (ms: number) => {
    const end = performance.now() + ms;
    return () => performance.now() > end;
  };
  await write(socket, until(2_000));
  const alone = await write(socket, until(MEASURED_MS));
  progress(`${READERS} readers follow a stream`);
  let isOver = () => false;
  const readers = await inGroups(numbers(READERS), AT_ONCE, () => read(url, headers, () => isOver()));
  isOver = until(MEASURED_MS);
  const sent: number[] = [];
  const stream = paced(TOKEN_EVERY_MS, isOver, async () => {
    const number = sent.push(performance.now()) - 1;
    const { status } = await fetch(url, { method: "POST", headers: text, body: `t${number} ` });
    if (status !== 204) throw new CommandError(`An append was refused: ${status}`);
  });
  const [beside] = await Promise.all([write(socket, isOver), stream]);
  await fetch(url, { method: "POST", headers: { ...headers, "Stream-Closed": "true" } });
  await Promise.all(readers.map(({ ended }) => ended));
  socket.terminate();

  const delays = readers.flatMap(({ arrivals }) =>
    [...arrivals].map(([number, at]) => at - (sent[number] ?? at)),
  );
  const [before, after] = [percentile(alone, 0.95), percentile(beside, 0.95)];
  const ms = (value: number): string => value.toFixed(1);
  const rows = [
    [
      count(sent.length),
      ms(percentile(delays, 0.5)),
      ms(percentile(delays, 0.95)),
      ms(before),
      ms(after),
      ratio(after / before),
    ],
  ];
  const head = [
    `tokens to ${READERS} readers`,
    "arrive after p50 ms",
    "p95 ms",
    "the room's writes: p95 ms alone",
    "beside it",
    "ratio",
  ];
  const verdict = `The room's p95 beside the stream at most ${GOAL}: ${after <= GOAL * before ? "met" : "not met"}.`;
  return { markdown: [table(head, rows), verdict].join("\n\n"), raw: { alone, beside, delays } };
}
