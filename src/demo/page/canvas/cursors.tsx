/** The others' cursors, drawn without React: each frame moves those that are in view, and nothing else. */
import { type RoomClient, useRoom } from "atrium/react";
import { useEffect, useRef } from "react";
import { readColor, readCursor } from "../room/model.ts";
import type { Point } from "../room/shape.ts";
import { type Box, contains } from "../room/things.ts";
import type { Camera } from "./camera.ts";

/** A cursor takes as long for its way as its last two places were apart in time, within these bounds. */
const [SHORTEST_MS, LONGEST_MS] = [50, 300];
/** After a pause, it takes this long. */
const FIRST_MS = 100;
/** With more cursors in view, their names would cover the board. */
const MAX_NAMES = 30;
/** A cursor and its name reach this far from its place, in pixels of the window. */
const REACH = 200;

interface Cursor {
  readonly element: HTMLElement;
  readonly label: HTMLElement;
  /** The latest place, and the one before; null while the participant shows none. */
  to: Point | null;
  from: Point;
  receivedAt: number;
  durationMs: number;
  /** Where it is drawn. */
  at: Point;
}

const isSame = (one: Point, other: Point): boolean => one.x === other.x && one.y === other.y;

/** The point after this part of the way, from 0 to 1. */
const between = (from: Point, to: Point, part: number): Point => ({
  x: from.x + (to.x - from.x) * part,
  y: from.y + (to.y - from.y) * part,
});

class CursorLayer {
  readonly #root: HTMLElement;
  readonly #client: RoomClient;
  readonly #camera: Camera;
  readonly #reveal: (point: Point) => void;
  readonly #cursors = new Map<string, Cursor>();
  readonly #stops: readonly (() => void)[];
  readonly #isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  #frame = 0;

  /** `reveal` is called with the place of the cursor that this visitor follows. */
  constructor(root: HTMLElement, client: RoomClient, camera: Camera, reveal: (point: Point) => void) {
    this.#root = root;
    this.#client = client;
    this.#camera = camera;
    this.#reveal = reveal;
    this.#stops = [
      client.presence.sync("*", ({ userId, state }) => this.#receive(userId, state)),
      client.users.on("updated", () => this.#updateUsers()),
      camera.subscribe(() => this.#request()),
    ];
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    cancelAnimationFrame(this.#frame);
    this.#root.replaceChildren();
  }

  #receive(userId: string, state: Readonly<Record<string, unknown>> | null): void {
    if (userId === this.#client.userId) return;
    if (state === null || !this.#client.users.online.has(userId)) {
      this.#remove(userId);
      return;
    }
    const place = readCursor(state.cursor);
    const cursor = this.#cursors.get(userId) ?? this.#add(userId);
    cursor.element.style.color = readColor(state.color);
    if (place !== null && cursor.to !== null && isSame(place, cursor.to)) return;
    const now = performance.now();
    const elapsed = now - cursor.receivedAt;
    const wayMs = elapsed > LONGEST_MS ? FIRST_MS : Math.max(elapsed, SHORTEST_MS);
    cursor.durationMs = cursor.to === null || this.#isStill ? 0 : wayMs;
    cursor.from = cursor.at;
    cursor.to = place;
    cursor.receivedAt = now;
    this.#request();
  }

  #add(userId: string): Cursor {
    const [element, label] = [document.createElement("div"), document.createElement("span")];
    element.className = "cursor";
    element.hidden = true;
    element.appendChild(label);
    this.#root.appendChild(element);
    const nowhere = { x: 0, y: 0 };
    const cursor = { element, label, to: null, from: nowhere, receivedAt: 0, durationMs: 0, at: nowhere };
    this.#cursors.set(userId, cursor);
    this.#showName(userId, cursor);
    return cursor;
  }

  #remove(userId: string): void {
    this.#cursors.get(userId)?.element.remove();
    this.#cursors.delete(userId);
  }

  get #followedId(): string | undefined {
    return this.#client.currentUser?.following[0];
  }

  /** Users have come, gone, been renamed or followed. */
  #updateUsers(): void {
    const { presence, users } = this.#client;
    for (const [userId, cursor] of this.#cursors) {
      if (users.online.has(userId)) this.#showName(userId, cursor);
      else this.#remove(userId);
    }
    for (const [userId, state] of presence.getStates())
      if (!this.#cursors.has(userId)) this.#receive(userId, state);
    this.#request();
  }

  #showName(userId: string, { element, label }: Cursor): void {
    const isFollowed = userId === this.#followedId;
    const name = this.#client.users.online.get(userId)?.name ?? "";
    const text = isFollowed ? `Following ${name}` : name;
    if (label.textContent !== text) label.textContent = text;
    element.classList.toggle("followed", isFollowed);
  }

  #request(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame((now) => this.#draw(now));
  }

  #draw(now: number): void {
    this.#frame = 0;
    const view = this.#viewOnBoard();
    let [isMoving, shown] = [false, 0];
    for (const [userId, cursor] of this.#cursors) {
      const { element, to, from, receivedAt, durationMs, at } = cursor;
      const isInView = to !== null && (contains(view, at) || contains(view, to));
      if (element.hidden === isInView) element.hidden = !isInView;
      if (to === null) continue;
      // Out of view, it is where it will be.
      const part = isInView && durationMs > 0 ? Math.max((now - receivedAt) / durationMs, 0) : 1;
      cursor.at = part < 1 ? between(from, to, part) : to;
      if (isInView) shown += 1;
      if (isInView && part < 1) isMoving = true;
      if (isSame(cursor.at, at)) continue;
      const [x, y] = [cursor.at.x, cursor.at.y].map((value) => Math.round(value * 10) / 10);
      element.style.transform = `translate(${x}px, ${y}px)`;
      if (userId === this.#followedId) this.#reveal(cursor.at);
    }
    this.#root.classList.toggle("crowded", shown > MAX_NAMES);
    if (isMoving) this.#request();
  }

  /** The part of the board in which a cursor would be seen. */
  #viewOnBoard(): Box {
    const { zoom } = this.#camera.view;
    const { x, y } = this.#camera.toBoard({ x: -REACH, y: -REACH });
    return { x, y, width: (innerWidth + REACH) / zoom, height: (innerHeight + REACH) / zoom };
  }
}

export function Cursors({
  camera,
  reveal,
}: {
  readonly camera: Camera;
  readonly reveal: (point: Point) => void;
}) {
  const { client } = useRoom();
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (root.current === null) return;
    const layer = new CursorLayer(root.current, client, camera, reveal);
    return () => layer.stop();
  }, [client, camera, reveal]);
  return <div ref={root} className="cursors" />;
}
