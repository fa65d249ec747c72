/** Storage of which one call fails, as a statement can: the transaction around it is undone by the storage itself. */
import type { RoomStorage } from "../../../src/room/storage/storage.ts";

type Call = (...args: unknown[]) => unknown;

export class FailingStorage {
  /** The storage as the room uses it. */
  readonly storage: RoomStorage;
  /** The same storage, which never fails. */
  readonly untouched: RoomStorage;
  faults = 0;
  #remaining: number | null = null;

  constructor(storage: RoomStorage) {
    this.untouched = storage;
    this.storage = this.#wrap(storage);
  }

  /** Makes one call fail, after `after` others. */
  arm(after: number): void {
    this.#remaining = after;
  }

  heal(): void {
    this.#remaining = null;
  }

  #count(): void {
    if (this.#remaining === null) return;
    this.#remaining -= 1;
    if (this.#remaining >= 0) return;
    this.#remaining = null;
    this.faults += 1;
    throw new Error("fault: storage");
  }

  /** The parts of a storage are objects; everything else that it has is called. */
  #wrap<Part extends object>(part: Part): Part {
    const wrapped = new Map<string | symbol, unknown>();
    return new Proxy(part, {
      get: (target, name) => {
        const known = wrapped.get(name);
        if (known !== undefined) return known;
        const value: unknown = Reflect.get(target, name, target);
        const own = this.#wrapMember(target, name, value);
        wrapped.set(name, own);
        return own;
      },
    });
  }

  #wrapMember(target: object, name: string | symbol, value: unknown): unknown {
    if (typeof value === "object" && value !== null) return this.#wrap(value);
    if (typeof value !== "function") return value;
    const call = value as Call;
    if (name === "transaction") return (...args: unknown[]) => call.apply(target, args);
    return (...args: unknown[]) => {
      this.#count();
      return call.apply(target, args);
    };
  }
}
