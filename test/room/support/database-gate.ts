/** Holds requests of a room's object to D1, at the binding itself, until the test lets them through. */
import type { TestRoom } from "./rooms.ts";

/** Purpose of a batch, by its statements. */
type Purpose = "join or refresh of a user" | "users" | "room" | "other";

interface HeldBatch {
  readonly purpose: Purpose;
  /** The parameters of its statements. */
  readonly params: readonly unknown[];
  release(): void;
}

export class DatabaseGate {
  /** The batches that have reached D1 since the gate was closed, in order. */
  readonly reached: Omit<HeldBatch, "release">[] = [];
  readonly #held: HeldBatch[] = [];
  readonly #room: TestRoom;
  #isOpen = false;

  private constructor(room: TestRoom) {
    this.#room = room;
  }

  /** Closes the gate of a room until `work` is done. */
  static async during(room: TestRoom, work: (gate: DatabaseGate) => Promise<void>): Promise<void> {
    const gate = new DatabaseGate(room);
    const restore = await room.inside((object) => gate.#install(object));
    try {
      await work(gate);
    } finally {
      await gate.open();
      await room.inside(restore);
    }
  }

  /** Replaces the binding of an object; the returned function puts it back. */
  #install(object: object): () => void {
    const env = Reflect.get(object, "env") as { DB: D1Database };
    const { DB } = env;
    env.DB = this.#gated(DB);
    return () => {
      env.DB = DB;
    };
  }

  #gated(d1: D1Database): D1Database {
    const statements = new WeakMap<object, { sql: string; params: unknown[] }>();
    return new Proxy(d1, {
      get: (target, name) => {
        if (name === "prepare")
          return (sql: string) => ({
            bind: (...params: unknown[]) => {
              const bound = target.prepare(sql).bind(...params);
              statements.set(bound, { sql, params });
              return bound;
            },
          });
        if (name !== "batch") return Reflect.get(target, name);
        return async (batch: D1PreparedStatement[]) => {
          const known = batch.flatMap((statement) => statements.get(statement) ?? []);
          const params = known.flatMap((statement) => statement.params);
          // The objects of other rooms have the same bindings.
          if (params.includes(this.#room.id))
            await this.#pass(purposeOf(known.map(({ sql }) => sql)), params);
          return target.batch(batch);
        };
      },
    });
  }

  async #pass(purpose: Purpose, params: readonly unknown[]): Promise<void> {
    this.reached.push({ purpose, params });
    if (!this.#isOpen) await new Promise<void>((release) => this.#held.push({ purpose, params, release }));
  }

  /** Waits until this many batches have reached D1. */
  async waitFor(batches: number): Promise<void> {
    while ((await this.#room.inside(() => this.reached.length)) < batches);
  }

  /** Lets the batch through that has waited the longest. In the object: another context may not resume its work. */
  releaseOldest(): Promise<void> {
    return this.#room.inside(() => this.#held.shift()?.release());
  }

  /** Lets everything through from now on. */
  open(): Promise<void> {
    return this.#room.inside(() => {
      this.#isOpen = true;
      for (const { release } of this.#held.splice(0)) release();
    });
  }
}

function purposeOf(statements: readonly string[]): Purpose {
  const reads = (table: string) =>
    statements.some((sql) => sql.startsWith("select") && sql.includes(`from "${table}"`));
  const isPage = statements.some((sql) => sql.includes('as "total"'));
  if (reads("users")) return isPage ? "users" : "join or refresh of a user";
  return reads("rooms") ? "room" : "other";
}
