/** Puts the pieces of a document in the order in which Yjs shows them. */
import { COLLECTED, SKIP, TYPE } from "../updates/update-content.ts";
import type { Lists } from "./lists.ts";
import { MISSING, NONE, type Pieces } from "./pieces.ts";
import { placeOf } from "./place.ts";

/** Pieces that depend on missing ones, directly or through others, stay in no list, as in Yjs. */
export function arrange(pieces: Pieces, lists: Lists): void {
  const arranger = new Arranger(pieces, lists);
  for (let client = 0; client < pieces.bases.length - 1; client += 1) arranger.arrangeAll(client);
}

class Arranger {
  readonly #pieces: Pieces;
  readonly #lists: Lists;
  /** By client, the first piece that is not arranged yet. */
  readonly #next: number[];
  /** Clients whose next piece cannot be arranged, and those whose next piece waits for another one. */
  readonly #blocked = new Set<number>();
  readonly #waiting = new Set<number>();

  constructor(pieces: Pieces, lists: Lists) {
    this.#pieces = pieces;
    this.#lists = lists;
    this.#next = pieces.bases.slice(0, -1);
  }

  /** All pieces of a client, and what they depend on of others: by a stack, since chains may be long. */
  arrangeAll(client: number): void {
    const stack = [{ client, last: (this.#pieces.bases[client + 1] ?? 0) - 1 }];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const piece = this.#next[top.client] ?? 0;
      this.#waiting.delete(top.client);
      if (piece > top.last || this.#blocked.has(top.client)) {
        stack.pop();
        continue;
      }
      const needed = this.#pieces.kind[piece] === SKIP ? MISSING : this.#neededBy(piece);
      if (needed === NONE) {
        this.#arrange(piece);
        this.#next[top.client] = piece + 1;
        continue;
      }
      const other = this.#pieces.clientOf(needed);
      // Pieces that wait for each other will never be arranged.
      if (needed === MISSING || this.#blocked.has(other) || this.#waiting.has(other) || other === top.client)
        this.#blocked.add(top.client);
      else {
        this.#waiting.add(top.client);
        stack.push({ client: other, last: needed });
      }
    }
  }

  /** A piece that has to be arranged before this one; {@link NONE} if all are, {@link MISSING} if one is not there. */
  #neededBy(piece: number): number {
    const { origin, rightOrigin, list } = this.#pieces;
    const container = list[piece] ?? NONE;
    const parent = container < 0 ? container : (this.#lists.parent[container] ?? NONE);
    for (const needed of [origin[piece] ?? NONE, rightOrigin[piece] ?? NONE, parent])
      if (needed === MISSING || (needed !== NONE && !this.#isArranged(needed))) return needed;
    return NONE;
  }

  #isArranged(piece: number): boolean {
    return piece < (this.#next[this.#pieces.clientOf(piece)] ?? 0);
  }

  #arrange(piece: number): void {
    const { next, list } = this.#pieces;
    const { head, tail } = this.#lists;
    const found = this.#listFor(piece);
    list[piece] = found;
    if (found === NONE) return;
    const left = placeOf(this.#pieces, piece, head[found] ?? NONE);
    const right = (left === NONE ? head[found] : next[left]) ?? NONE;
    next[piece] = right;
    if (left === NONE) head[found] = piece;
    else next[left] = piece;
    if (right === NONE) tail[found] = piece;
  }

  /** {@link NONE} for what was collected as garbage, or stood beside or in what was. */
  #listFor(piece: number): number {
    const { kind, list, origin, rightOrigin } = this.#pieces;
    const neighbors = [origin[piece] ?? NONE, rightOrigin[piece] ?? NONE].filter((near) => near !== NONE);
    if (kind[piece] === COLLECTED || neighbors.some((near) => list[near] === NONE)) return NONE;
    const stated = list[piece] ?? NONE;
    if (stated === NONE) return list[neighbors[0] ?? NONE] ?? NONE;
    const parent = this.#lists.parent[stated] ?? NONE;
    return parent === NONE || (kind[parent] === TYPE && list[parent] !== NONE) ? stated : NONE;
  }
}
