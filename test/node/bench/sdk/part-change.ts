/** The processor time that a remote change costs in a large store, next to parsing its frame and setting a map's entry. */
import type { AtriumClient } from "atrium/client";
import { DEFAULT_RUNTIME } from "../../../../packages/sdk/core/runtime.ts";
import { calm } from "../gauge.ts";
import { inTurns, medianOf, type Section } from "../room/turns.ts";
import type { BenchOptions } from "../run.ts";
import type { SdkSubjects } from "../sdk.ts";
import { ratio, table } from "../table.ts";
import { Board, SHAPES } from "./board.ts";
import { HeldSocket } from "./held-socket.ts";
import { spend } from "./spend.ts";

/** Number of changes below the bytes that a socket may leave unread. */
const CHANGES = 2_000;
const ARRIVAL_LIMIT_MS = 20_000;

interface Reader {
  readonly client: AtriumClient;
  readonly socket: HeldSocket;
}

/** Handles the changes that a reader's socket holds. */
interface Subject {
  readonly name: string;
  handle(reader: Reader): void;
}

const SUBJECTS: readonly [Subject, Subject, Subject] = [
  {
    name: "the SDK, with a listener of `changed`",
    handle: ({ client, socket }) => {
      const seen: unknown[] = [];
      Board.shapesOf(client).on("changed", ({ value }) => seen.push(value));
      socket.release();
      expectAll(seen.length);
    },
  },
  {
    name: "the SDK, with `getAll()` after each",
    handle: ({ client, socket }) => {
      const shapes = Board.shapesOf(client);
      let seen = 0;
      shapes.on("updated", () => {
        if (shapes.getAll()[Board.keyOf(0)] !== undefined) seen += 1;
      });
      socket.release();
      expectAll(seen);
    },
  },
  {
    name: "parsing, and setting an entry of a map",
    handle: ({ socket }) => {
      const entries = new Map(Array.from({ length: SHAPES }, (_, shape) => [Board.keyOf(shape), {}]));
      let seen = 0;
      for (const frame of socket.held) {
        for (const { event, data } of JSON.parse(frame) as { event: string; data: Change }[]) {
          if (event !== "storeChanged") continue;
          entries.set(data.key, data);
          seen += 1;
        }
      }
      expectAll(seen);
    },
  },
];

interface Change {
  readonly key: string;
  readonly value: unknown;
  readonly version: number;
}

export async function measureChange(subjects: SdkSubjects, options: BenchOptions): Promise<Section> {
  const board = await Board.create(subjects);
  await board.fill();
  const token = await board.createUser("Ada");
  const once = async ({ handle }: Subject): Promise<number> => {
    const reader = await openReader(board, token);
    reader.socket.hold();
    await board.change(CHANGES);
    await arrived(reader.socket);
    await calm(subjects.pid, options.stop);
    const { processorMs } = await spend(() => handle(reader));
    reader.client.disconnect();
    return (processorMs * 1000) / CHANGES;
  };
  const measured = await inTurns(SUBJECTS, options, once);
  const figures = measured.map(({ runs }) => medianOf(runs, (run) => run));
  const floor = figures[2] ?? Number.NaN;
  const rows = measured.map(({ name }, index) => {
    const figure = figures[index] ?? Number.NaN;
    return [name, figure.toFixed(1), ratio(figure / floor)];
  });
  const head = ["a change of 1 KB, in a store of 10,000 entries", "processor time µs", "of the last row"];
  return { markdown: table(head, rows), raw: { measured } };
}

/** A client that has loaded the store, and its socket. */
async function openReader(board: Board, token: string): Promise<Reader> {
  const sockets: HeldSocket[] = [];
  const open = (url: string): WebSocket => {
    const socket = new HeldSocket(url);
    sockets.push(socket);
    return socket;
  };
  const client = await board.join(token, { runtime: { ...DEFAULT_RUNTIME, open } });
  await Board.shapesOf(client).sync();
  const [socket] = sockets;
  if (socket === undefined) throw new Error("The client has opened no socket");
  return { client, socket };
}

async function arrived(socket: HeldSocket): Promise<void> {
  const limit = performance.now() + ARRIVAL_LIMIT_MS;
  const count = () => socket.held.filter((frame) => frame.includes('"storeChanged"')).length;
  while (count() < CHANGES) {
    if (performance.now() > limit) throw new Error(`${count()} of ${CHANGES} changes have arrived`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function expectAll(seen: number): void {
  if (seen !== CHANGES) throw new Error(`${seen} of ${CHANGES} changes were seen`);
}
