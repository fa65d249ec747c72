/** Keeps a lone visitor company: helpers, which this page controls, join with connections of their own, act as people would, and leave. */
import { Atrium, type AtriumClient, AtriumError, type User } from "atrium/client";
import { useOthers, useSelf } from "atrium/react";
import { useEffect, useState } from "react";
import { NOTE_SIZE, type Note, type Presence, readNote, STORES } from "../room/model.ts";
import type { Point, Shape } from "../room/shape.ts";
import { ask, boardId, IS_GUEST } from "../room/visitor.ts";
import { FIGURES, pointsOf, STEP_MS, wayBetween } from "./motion.ts";

/** A page that no one has used for so long is not watched. */
const IDLE_MS = 3 * 60 * 1000;

const at = (x: number, y: number) => ({ x, y });

/** Beside the first notes on a wide screen, below and above them on a high one. */
const rolesFor = (isWide: boolean): readonly Role[] => [
  {
    lines: ["Picnic on Saturday?", "Who brings a blanket?", "Lake or park?"],
    places: isWide ? [at(345, -150), at(348, 120)] : [at(-310, 250)],
    sketches: isWide ? [at(440, 70), at(60, 255)] : [at(200, 310), at(0, -300)],
  },
  {
    lines: ["I bring lemonade.", "The lake! It has shade.", "And if it rains?"],
    places: isWide ? [at(-536, -130), at(-536, 90)] : [at(-80, 260)],
    sketches: isWide ? [at(-120, 255), at(240, 255)] : [at(-200, -300), at(60, 480)],
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
 * when another visitor comes, and when no one is watching.
 */
export function useHelpers(isOn: boolean): boolean {
  const isAlone = useOthers((others) => others.every(({ user }) => isHelper(user)));
  const hasJoined = useSelf() !== null;
  const isWatched = useIsWatched();
  const areWanted = !IS_GUEST && isOn && isAlone && hasJoined && isWatched;
  useEffect(() => {
    if (!areWanted) return;
    const leave = new AbortController();
    // Without helpers, the board is as good: the visitor need not know why.
    void admit(leave.signal).catch((error) => leave.signal.aborted || console.info("No helpers:", error));
    return () => leave.abort();
  }, [areWanted]);
  return areWanted;
}

async function admit(signal: AbortSignal): Promise<void> {
  const { tokens } = await ask<{ readonly tokens: readonly string[] }>("POST", "helpers");
  const roles = rolesFor(innerWidth > innerHeight);
  await Promise.all(tokens.map((token, index) => play(token, roles[index % roles.length], signal)));
}

async function play(authToken: string, role: Role | undefined, signal: AbortSignal): Promise<void> {
  if (role === undefined || signal.aborted) return;
  const helper = new Atrium({ serverUrl: location.origin, authToken });
  const client: HelperClient = helper.enterRoom(boardId(), { stores: STORES });
  try {
    await client.join();
    await new Helper(client, role, signal).run();
  } finally {
    client.presence.update(null);
    await client.leave();
  }
}

type HelperClient = AtriumClient<typeof STORES, { presence: Presence }>;

/** The script of one helper; the other one has other lines. */
interface Role {
  readonly lines: readonly string[];
  /** Places of its notes, in turn. */
  readonly places: readonly Point[];
  /** Places of its drawings. */
  readonly sketches: readonly Point[];
}

const KEY_MS = 110;
/** A helper keeps so many of its notes and drawings, and removes the oldest. */
const KEPT = 3;
const EMOJI = ["❤️", "😄", "☕"];

class Helper {
  readonly #client: HelperClient;
  readonly #role: Role;
  readonly #signal: AbortSignal;
  readonly #random: () => number;
  #at: Point;
  #acts = 0;
  /** The note that a visitor has written last, until it was admired. */
  #news: string | null = null;

  constructor(client: HelperClient, role: Role, signal: AbortSignal, random: () => number = Math.random) {
    this.#client = client;
    this.#role = role;
    this.#signal = signal;
    this.#random = random;
    this.#at = role.places[0] ?? { x: 0, y: 0 };
  }

  /** Acts until the signal, which rejects it. */
  async run(): Promise<never> {
    const { notes, shapes } = this.#client.stores;
    await Promise.all([notes.sync(), shapes.sync()]);
    notes.on("changed", ({ key, userId, reason }) => {
      const author = this.#client.users.get({ userId: userId ?? "" });
      if (reason === "remote" && author?.custom_id === undefined) this.#news = key;
    });
    this.#show(this.#at);
    await this.#pause(0, 300);
    for (;;) {
      await this.#act();
      await this.#pause(900, 2600);
    }
  }

  #act(): Promise<void> {
    this.#acts += 1;
    if (this.#news !== null) return this.#admire(this.#news);
    const turn = this.#acts % 6;
    if (turn === 1) return this.#write();
    if (turn === 3) return this.#sketch();
    if (turn === 5) return this.#nudge();
    return this.#wander();
  }

  /** Writes a note letter by letter. */
  async #write(): Promise<void> {
    const { lines, places } = this.#role;
    const turn = Math.floor(this.#acts / 6);
    const place = places[turn % places.length] ?? this.#at;
    const key = `${Date.now()}-${this.#client.userId}`;
    const { notes } = this.#client.stores;
    await this.#removeOldest("notes");
    await this.#moveTo({ x: place.x + 60, y: place.y + 40 });
    await notes.set(key, { ...place, text: "", picture: "" });
    this.#client.presence.update({ typing: `notes:${key}` });
    const line = [...(lines[turn % lines.length] ?? "")];
    for (let length = 1; length <= line.length && notes.get(key) !== undefined; length += 1) {
      void this.#update(key, { text: line.slice(0, length).join("") });
      await this.#pause(KEY_MS / 2, KEY_MS * 1.5);
    }
    this.#client.presence.update({ typing: null });
  }

  async #sketch(): Promise<void> {
    const { sketches } = this.#role;
    const turn = Math.floor(this.#acts / 6);
    const middle = sketches[turn % sketches.length] ?? this.#at;
    const figure = FIGURES[Math.floor(this.#random() * FIGURES.length)] ?? FIGURES[0];
    if (figure === undefined) return;
    const points = pointsOf(figure, middle);
    await this.#removeOldest("shapes");
    await this.#moveTo({ x: points[0] ?? 0, y: points[1] ?? 0 });
    for (let length = 4; length <= points.length; length += 2) {
      const draft: Shape = { kind: "pen", tint: figure.tint, points: points.slice(0, length) };
      this.#show({ x: points[length - 2] ?? 0, y: points[length - 1] ?? 0 }, { draft });
      await this.#wait(points.length > 20 ? STEP_MS : 4 * STEP_MS);
    }
    const shape = { kind: "pen", tint: figure.tint, points };
    await this.#client.stores.shapes.set(`${Date.now()}-${this.#client.userId}`, shape);
    this.#client.presence.update({ draft: null });
  }

  /** Puts one of its own notes a little elsewhere. */
  async #nudge(): Promise<void> {
    const { notes } = this.#client.stores;
    const id = this.#own("notes").at(-1);
    if (id === undefined) return this.#wander();
    const note = readNote(notes.get(id));
    await this.#moveTo({ x: note.x + NOTE_SIZE.width / 2, y: note.y + 14 });
    const target = { x: note.x + this.#between(-14, 14), y: note.y + this.#between(-14, 14) };
    for (const step of wayBetween(note, target, this.#random)) {
      const cursor = { x: step.x + NOTE_SIZE.width / 2, y: step.y + 14 };
      this.#show(cursor, { selection: [`notes:${id}`], drag: step });
      await this.#wait(STEP_MS);
    }
    if (notes.get(id) !== undefined) await this.#update(id, target);
    this.#client.presence.update({ selection: [], drag: null });
  }

  /** Of a note that was deleted meanwhile, or on its way out, nothing is left to do. */
  async #update(key: string, fields: Partial<Note>): Promise<void> {
    await this.#client.stores.notes.update(key, fields).catch((error: unknown) => {
      if (!(error instanceof AtriumError)) throw error;
    });
  }

  /** Goes to see what a visitor has written, and likes it. */
  async #admire(id: string): Promise<void> {
    this.#news = null;
    await this.#pause(800, 2500);
    const note = this.#client.stores.notes.get(id);
    if (note === undefined) return;
    const { x, y } = readNote(note);
    await this.#moveTo({ x: x + NOTE_SIZE.width - 20, y: y + NOTE_SIZE.height - 30 });
    await this.#pause(500, 1200);
    const emoji = EMOJI[Math.floor(this.#random() * EMOJI.length)];
    await this.#client.notifications.broadcast("emoji", emoji);
  }

  async #wander(): Promise<void> {
    const notes = Object.values(this.#client.stores.notes.getAll());
    const note = readNote(notes[Math.floor(this.#random() * notes.length)]);
    await this.#moveTo({ x: note.x + this.#between(20, 180), y: note.y + this.#between(50, 150) });
  }

  async #moveTo(to: Point): Promise<void> {
    for (const point of wayBetween(this.#at, to, this.#random)) {
      this.#show(point);
      await this.#wait(STEP_MS);
    }
  }

  #show(cursor: Point, further: Partial<Presence> = {}): void {
    this.#at = cursor;
    this.#client.presence.update({ cursor, ...further });
  }

  /** The keys of what it has made, oldest first. */
  #own(store: "notes" | "shapes"): string[] {
    const keys = Object.keys(this.#client.stores[store].getAll());
    return keys.filter((key) => key.endsWith(this.#client.userId)).sort();
  }

  async #removeOldest(store: "notes" | "shapes"): Promise<void> {
    for (const key of this.#own(store).slice(0, -(KEPT - 1))) await this.#client.stores[store].delete(key);
  }

  #between = (least: number, most: number): number => Math.round(least + this.#random() * (most - least));

  #pause = (leastMs: number, mostMs: number): Promise<void> => this.#wait(this.#between(leastMs, mostMs));

  #wait(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#signal.aborted) return reject(this.#signal.reason);
      const stop = () => {
        clearTimeout(timer);
        reject(this.#signal.reason);
      };
      const timer = setTimeout(() => {
        this.#signal.removeEventListener("abort", stop);
        resolve();
      }, ms);
      this.#signal.addEventListener("abort", stop, { once: true });
    });
  }
}
