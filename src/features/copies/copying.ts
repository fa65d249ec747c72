/** The copy of all databases into a bucket, once a day: in steps, each of which ends with its progress in the directory. */
import { sha256 } from "../../platform/crypto/encoding.ts";
import type { Database } from "../../platform/d1/d1.ts";
import type { CallBudget } from "../../platform/flow/work-budget.ts";
import type { Bucket } from "./bucket.ts";
import { beginning, type PageSizes, readChunk, readSchema, type Schema } from "./dump-statements.ts";
import { deleteCopy, insertDueCopy, selectExpiredCopies, takeCopy, updateTaken } from "./store.ts";
import type { CopyRow, Position } from "./table.ts";

export interface CopyPorts {
  readonly directory: Database;
  readonly databases: ReadonlyMap<string, Database>;
  /** Throws when the settings of the bucket are incomplete. */
  openBucket(): Bucket;
  /** Milliseconds. */
  readonly keptMs: number;
  log(message: string, error: unknown): void;
}

/** No step begins later in a run. */
const RUN_MS = 40_000;
/** No write to the bucket begins later: rows that the database gave so late may be another run's already. */
const WRITE_MS = 80_000;
/** Time after which another run continues a copy: longer than a run with its last write. */
const TAKEN_MS = 120_000;
/** Some 5 MB for all tables at once, which has all rows of a small database as of one moment. */
const PAGE_SIZES: PageSizes = { alone: 1024 * 1024, beside: 128 * 1024 };

const positionOf = ({ position }: CopyRow): Position => JSON.parse(position) as Position;

const nameOf = ({ startedAt }: CopyRow): string =>
  new Date(startedAt).toISOString().replaceAll(":", "-").replace(/\.\d+/, "");
const manifestOf = (copy: CopyRow): string => `${nameOf(copy)}/manifest.json`;
const partOf = (copy: CopyRow, database: string, number: number): string =>
  `${nameOf(copy)}/${database}/${String(number).padStart(6, "0")}.sql.gz`;

const encode = (text: string) => new Uint8Array(new TextEncoder().encode(text));

const zip = async (text: string): Promise<Uint8Array<ArrayBuffer>> => {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
};

/**
 * Begins the copy of the day when it is due, continues it within the budget, and deletes expired copies. A failure is logged
 * once for each copy, and the next run goes on from the last step.
 */
export async function continueCopies(
  ports: CopyPorts,
  now: number,
  { calls, queries }: CallBudget,
  sizes: PageSizes = PAGE_SIZES,
): Promise<void> {
  const startedAt = Date.now();
  const isWithin = (ms: number) => Date.now() < startedAt + ms;
  const hasLeft = () => calls.hasLeft && queries.hasLeft && isWithin(RUN_MS);
  const [database = null] = ports.databases.keys();
  const start: Position = { database, schema: null, table: null, after: 0, parts: {} };
  const [, [copy], expired] = await ports.directory.run([
    insertDueCopy(now, start),
    takeCopy(now, now + TAKEN_MS),
    selectExpiredCopies(now - ports.keptMs),
  ]);
  const bucketOf = (): Bucket => {
    const { put, delete: remove } = ports.openBucket();
    return {
      put: async (...object) => {
        calls.spend();
        if (!isWithin(WRITE_MS)) throw new Error("The database took too long to give the next rows");
        return put(...object);
      },
      delete: (name) => {
        calls.spend();
        return remove(name);
      },
    };
  };
  if (copy !== undefined)
    await attempt(ports, copy, async () => {
      const run = new CopyRun(ports, copy, bucketOf(), sizes);
      while (hasLeft()) if (!(await run.step())) return;
      await run.release();
    });
  for (const each of expired) {
    if (!hasLeft()) return;
    await attempt(ports, each, () => deleteParts(ports.directory, bucketOf(), each, hasLeft));
  }
}

async function attempt(
  { directory, log }: CopyPorts,
  copy: CopyRow,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const [stored] = await directory.run([updateTaken(copy, { takenUntil: 0, problem })]);
    if (stored.length > 0 && problem !== copy.problem)
      log("The databases could not be copied to COPY_TO, or an old copy not be deleted", error);
  }
}

/** A run's work on a copy that it has taken. */
class CopyRun {
  readonly #ports: CopyPorts;
  readonly #copy: CopyRow;
  readonly #bucket: Bucket;
  readonly #sizes: PageSizes;
  #position: Position;
  #schema: Schema | null = null;

  constructor(ports: CopyPorts, copy: CopyRow, bucket: Bucket, sizes: PageSizes) {
    this.#ports = ports;
    this.#copy = copy;
    this.#bucket = bucket;
    this.#sizes = sizes;
    this.#position = positionOf(copy);
  }

  /** Copies the next rows, or completes the copy. Returns false when nothing is left to do. */
  async step(): Promise<boolean> {
    const { database, parts } = this.#position;
    if (database === null) {
      const manifest = { version: 1, started_at: this.#copy.startedAt, completed_at: Date.now(), parts };
      const bytes = encode(JSON.stringify(manifest));
      await this.#bucket.put(manifestOf(this.#copy), "application/json", bytes);
      await this.#save({ state: "complete", takenUntil: 0, problem: null });
      return false;
    }
    const next = await this.#copyRows(database);
    if (next === null) {
      await this.#save({ state: "abandoned", takenUntil: 0 });
      return false;
    }
    this.#position = next;
    return this.#save({ position: JSON.stringify(next) });
  }

  /** Lets the next run continue at once. */
  async release(): Promise<void> {
    await this.#save({ takenUntil: 0 });
  }

  /** Returns null when the copy cannot go on: the tables are others, or the database is no longer bound. */
  async #copyRows(database: string): Promise<Position | null> {
    const db = this.#ports.databases.get(database);
    if (db === undefined) return null;
    this.#schema ??= await readSchema(db);
    const schema = this.#schema;
    const { parts } = this.#position;
    const digest = await sha256(encode(schema.source));
    if (digest !== (this.#position.schema ?? digest)) return null;
    const chunk = await readChunk(db, schema, this.#position, this.#sizes);
    if (chunk === null) return null;
    const { statements, next } = chunk;
    const number = (parts[database] ?? 0) + 1;
    const all = [
      ...(number === 1 ? beginning(schema) : []),
      ...statements,
      ...(next === null ? schema.after : []),
    ];
    const bytes = await zip(all.map((sql) => `${sql};\n`).join(""));
    await this.#bucket.put(partOf(this.#copy, database, number), "application/gzip", bytes);
    const written = { ...parts, [database]: number };
    if (next !== null) return { database, schema: digest, ...next, parts: written };
    this.#schema = null;
    const names = [...this.#ports.databases.keys()];
    const following = names[names.indexOf(database) + 1] ?? null;
    return { database: following, schema: null, table: null, after: 0, parts: written };
  }

  /** Returns false when another run has taken the copy over. */
  async #save(values: Partial<CopyRow>): Promise<boolean> {
    const [stored] = await this.#ports.directory.run([updateTaken(this.#copy, values)]);
    return stored.length > 0;
  }
}

/** The manifest goes first: the rest is a copy no longer. */
async function deleteParts(
  directory: Database,
  bucket: Bucket,
  copy: CopyRow,
  hasLeft: () => boolean,
): Promise<void> {
  const position = positionOf(copy);
  const parts = { ...(position.database !== null && { [position.database]: 0 }), ...position.parts };
  await bucket.delete(manifestOf(copy));
  const isDeleted = async () => {
    // An unfinished copy may have one part more than it has noted.
    for (const database of Object.keys(parts))
      for (let number = (parts[database] ?? 0) + 1; number > 0; number -= 1) {
        if (!hasLeft()) return false;
        await bucket.delete(partOf(copy, database, number));
        parts[database] = number - 1;
      }
    return true;
  };
  let isDone = false;
  try {
    isDone = await isDeleted();
  } finally {
    const statement = isDone
      ? deleteCopy(copy)
      : updateTaken(copy, { position: JSON.stringify({ ...position, parts }) });
    await directory.run([statement]);
  }
}
