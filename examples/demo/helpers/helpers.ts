/** Keeps a lone visitor company: helpers, which this page controls, join with connections of their own, act as people would, and leave. */
import { PERSON_COLORS } from "@atrium/contract/person-colors.ts";
import { Atrium, type AtriumClient, AtriumError, type User } from "atrium/client";
import { useOthers, useSelf } from "atrium/react";
import { useEffect, useState } from "react";
import { frontAbove, NOTE_SIZE, type Presence, readNote, STORES } from "../room/model.ts";
import type { Point, Shape } from "../room/shape.ts";
import { ask, boardId, seat } from "../room/visitor.ts";
import { FIGURES, pointsOf, STEP_MS, wayBetween } from "./motion.ts";

/** A page that no one has used for so long is not watched. */
const IDLE_MS = 3 * 60 * 1000;

const at = (x: number, y: number) => ({ x, y });

/** Beside the first notes on a wide screen, below and above them on a high one, and below them in a frame. */
const rolesFor = (isWide: boolean, isFramed = seat !== ""): readonly Role[] => [
  {
    color: PERSON_COLORS[4],
    lines: ["Picnic on Saturday?", "Who brings a blanket?", "Lake or park?"],
    ...(isFramed
      ? { places: [at(-330, 256)], sketches: [at(190, 330)] }
      : {
          places: isWide ? [at(345, -150), at(348, 120)] : [at(-310, 250)],
          sketches: isWide ? [at(440, 70), at(60, 255)] : [at(200, 310), at(0, -300)],
        }),
  },
  {
    color: PERSON_COLORS[5],
    lines: ["I bring lemonade.", "The lake! It has shade.", "And if it rains?"],
    ...(isFramed
      ? { places: [at(-80, 256)], sketches: [at(285, 330)] }
      : {
          places: isWide ? [at(-536, -130), at(-536, 90)] : [at(-80, 260)],
          sketches: isWide ? [at(-120, 255), at(240, 255)] : [at(-200, -300), at(60, 480)],
        }),
  },
];

/** Helpers have custom IDs, and visitors have none. */
export const isHelper = ({ custom_id }: User): boolean => custom_id !== undefined;

/** Whether the page is visible, and was used lately. */
function useIsWatched(): boolean {
  const [isWatched, setWatched] = useState(!document.hidden);
  useEffect(() => {
    let idle = 0;
    const look = () => {
      clearTimeout(idle);
      setWatched(!document.hidden);
      if (!document.hidden) idle = window.setTimeout(() => setWatched(false), IDLE_MS);
    };
    const signs = ["visibilitychange", "pointermove", "pointerdown", "keydown"];
    for (const sign of signs) document.addEventListener(sign, look);
    look();
    return () => {
      clearTimeout(idle);
      for (const sign of signs) document.removeEventListener(sign, look);
    };
  }, []);
  return isWatched;
}

/**
 * While the visitor is alone and looks, the helpers are there; returns whether. They cost connections, so they leave
 * when another visitor comes, and when no one is watching. The first window of the front page keeps them beside the second.
 */
export function useHelpers(isOn: boolean): boolean {
  const isAlone = useOthers((others) => others.every(({ user }) => isHelper(user)));
  const hasJoined = useSelf() !== null;
  const isWatched = useIsWatched();
  const areWanted = isOn && (isAlone || seat === "first") && hasJoined && isWatched;
  useEffect(() => {
    if (!areWanted) return;
    const leave = new AbortController();
    // Without helpers, the board is as good: the visitor need not know why.
    void admit(leave.signal).catch((error) => leave.signal.aborted || console.info("No helpers:", error));
    return () => leave.abort();
  }, [areWanted]);
  return areWanted;
}

/** The script of one helper; the other one has other lines. */
interface Role {
  /** No visitor has it. */
  readonly color: string;
  readonly lines: readonly string[];
  /** Places of its notes, in turn. */
  readonly places: readonly Point[];
  /** Places of its drawings. */
  readonly sketches: readonly Point[];
}

type HelperClient = AtriumClient<typeof STORES, { presence: Presence }>;

async function admit(signal: AbortSignal): Promise<void> {
  const { tokens } = await ask<{ readonly tokens: readonly string[] }>("POST", "helpers");
  const roles = rolesFor(innerWidth > innerHeight);
  await Promise.all(
    roles.map(async (role, index) => {
      if (signal.aborted) return;
      const helper = new Atrium({ serverUrl: location.origin, authToken: tokens[index] ?? "" });
      const client: HelperClient = helper.enterRoom(boardId(), { stores: STORES });
      try {
        await client.join();
        await play(client, role, signal);
      } finally {
        client.presence.update(null);
        await client.leave();
      }
    }),
  );
}

const KEY_MS = 110;
/** A helper keeps so many of its notes and drawings, and removes the oldest. */
const KEPT = 3;

const between = (least: number, most: number): number => Math.round(least + Math.random() * (most - least));

/** Acts until the signal, which rejects it. */
async function play(client: HelperClient, role: Role, signal: AbortSignal): Promise<never> {
  const { notes, shapes } = client.stores;
  /** The note that a visitor has written last, until it was admired. */
  let news: string | null = null;
  let at = role.places[0] ?? { x: 0, y: 0 };

  const pause = async (leastMs: number, mostMs = leastMs) => {
    await new Promise((resolve) => setTimeout(resolve, between(leastMs, mostMs)));
    signal.throwIfAborted();
  };
  const show = (cursor: Point, further: Partial<Presence> = {}) => {
    at = cursor;
    client.presence.update({ cursor, ...further });
  };
  const moveTo = async (to: Point) => {
    for (const point of wayBetween(at, to, Math.random)) {
      show(point);
      await pause(STEP_MS);
    }
  };
  /** Removes all but the last of what this helper has made; a note in which a visitor has written is theirs. */
  const tidy = async (store: typeof notes | typeof shapes, kept: number) => {
    const isOwn = ([key, value]: [string, unknown]) =>
      key.endsWith(client.userId) && role.lines.some((line) => line.startsWith(readNote(value).text));
    const own = Object.entries<unknown>(store.getAll())
      .filter(isOwn)
      .map(([key]) => key)
      .sort();
    for (const key of own.slice(0, Math.max(own.length - kept, 0))) await store.delete(key);
  };
  const newKey = () => `${Date.now()}-${client.userId}`;

  /** Writes a note letter by letter. */
  const write = async (turn: number) => {
    const place = role.places[turn % role.places.length] ?? at;
    const line = [...(role.lines[turn % role.lines.length] ?? "")];
    const key = newKey();
    await tidy(notes, KEPT - 1);
    await moveTo({ x: place.x + 60, y: place.y + 40 });
    await notes.set(key, { ...place, text: "", picture: "", front: frontAbove(notes.getAll()) });
    client.presence.update({ typing: `notes:${key}` });
    for (let length = 1; length <= line.length && notes.get(key) !== undefined; length += 1) {
      // Nothing is left to do for a note that was deleted meanwhile, or on its way out.
      void notes.update(key, { text: line.slice(0, length).join("") }).catch((error: unknown) => {
        if (!(error instanceof AtriumError)) throw error;
      });
      await pause(KEY_MS / 2, KEY_MS * 1.5);
    }
    client.presence.update({ typing: null });
  };
  const sketch = async (turn: number) => {
    const figure = FIGURES[between(0, FIGURES.length - 1)];
    if (figure === undefined) return;
    const points = pointsOf(figure, role.sketches[turn % role.sketches.length] ?? at);
    await tidy(shapes, KEPT - 1);
    await moveTo({ x: points[0] ?? 0, y: points[1] ?? 0 });
    for (let length = 4; length <= points.length; length += 2) {
      const draft: Shape = { kind: "pen", tint: figure.tint, points: points.slice(0, length) };
      show({ x: points[length - 2] ?? 0, y: points[length - 1] ?? 0 }, { draft });
      await pause(STEP_MS);
    }
    await shapes.set(newKey(), { kind: "pen", tint: figure.tint, points });
    client.presence.update({ draft: null });
  };
  /** Goes to see what a visitor has written, and likes it. */
  const admire = async (key: string) => {
    news = null;
    const { x, y } = readNote(notes.get(key));
    await moveTo({ x: x + NOTE_SIZE.width - 20, y: y + NOTE_SIZE.height - 30 });
    await pause(500, 1_200);
    await client.notifications.broadcast("emoji", "❤️");
  };
  const wander = () => {
    const keys = Object.keys(notes.getAll());
    const { x, y } = readNote(notes.get(keys[between(0, keys.length - 1)] ?? ""));
    return moveTo({ x: x + between(20, 180), y: y + between(50, 150) });
  };

  show(at, { color: role.color });
  await Promise.all([notes.sync(), shapes.sync()]);
  notes.on("changed", ({ key, userId, reason }) => {
    const author = client.users.get({ userId: userId ?? "" });
    if (reason === "remote" && author?.custom_id === undefined) news = key;
  });
  await Promise.all([tidy(notes, 0), tidy(shapes, 0)]); // what the helpers of a page that was closed have left
  try {
    for (let turn = 0; ; turn += 1) {
      for (const act of [write, wander, sketch, wander]) {
        if (news !== null && notes.get(news) !== undefined) await admire(news);
        await act(turn);
        await pause(900, 2_600);
      }
    }
  } finally {
    await Promise.all([tidy(notes, 0), tidy(shapes, 0)]);
  }
}
