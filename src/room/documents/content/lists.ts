/** The lists of a document's pieces: what a shared type has in its order, and each entry of a map with what was there before. */
import { NONE } from "./pieces.ts";

/** What one shared type has. */
interface Members {
  /** {@link NONE} while nothing was inserted in its order. */
  list: number;
  readonly entries: Map<string, number>;
}

export class Lists {
  /** By list, its first piece, its last one, and the piece that made the shared type; {@link NONE} for there is none. */
  readonly head: number[] = [];
  readonly tail: number[] = [];
  readonly parent: number[] = [];
  readonly #roots = new Map<string, Members>();
  readonly #inner = new Map<number, Members>();

  /** The list of a shared type, by its name or by the piece that made it; with a key, that of an entry. */
  get(type: string | number, key: string | null): number {
    const members = this.#membersOf(type) ?? this.#add(type);
    const known = key === null ? members.list : (members.entries.get(key) ?? NONE);
    if (known !== NONE) return known;
    const list = this.head.push(NONE) - 1;
    this.tail.push(NONE);
    this.parent.push(typeof type === "string" ? NONE : type);
    if (key === null) members.list = list;
    else members.entries.set(key, list);
    return list;
  }

  members(type: string | number): Readonly<Members> | undefined {
    return this.#membersOf(type);
  }

  #membersOf(type: string | number): Members | undefined {
    return typeof type === "string" ? this.#roots.get(type) : this.#inner.get(type);
  }

  #add(type: string | number): Members {
    const members = { list: NONE, entries: new Map<string, number>() };
    if (typeof type === "string") this.#roots.set(type, members);
    else this.#inner.set(type, members);
    return members;
  }

  /** The names of the document's own shared types. */
  names(): string[] {
    return [...this.#roots.keys()].sort();
  }
}
