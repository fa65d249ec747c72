/**
 * better-auth's door to D1: it reads at once, but what it writes is collected, so that all that one request
 * changes, ours and the library's, is one atomic batch.
 */
import { type CustomAdapter, createAdapterFactory } from "better-auth/adapters";
import type { Database, Statement } from "../../platform/d1.ts";
import { tokenHashOf } from "../sign-in-cookie.ts";
import {
  deleteRows,
  insertRow,
  isModelName,
  type Joined,
  type ModelName,
  type Row,
  selectJoinedRows,
  selectRows,
  updateRows,
} from "./store.ts";

export interface UnitOfWork {
  /** What better-auth is given as its database. */
  readonly adapter: ReturnType<typeof createAdapterFactory>;
  /** What the library has asked to write so far, in its order. */
  readonly writes: readonly Statement[];
}

type JoinConfig = NonNullable<Parameters<CustomAdapter["findOne"]>[0]["join"]>;

function modelOf(name: string): ModelName {
  if (!isModelName(name)) throw new Error(`better-auth asks for a table that is not there: ${name}`);
  return name;
}

const joinsOf = (join: JoinConfig = {}): Joined[] =>
  Object.entries(join).map(([name, { on }]) => ({ model: modelOf(name), on }));

/** The library says by a type parameter what its rows are; this is where it is believed. */
const believed = <T>(row: Row): T => row as T;

/** Opens a unit of work: its writes are nothing until somebody runs them. */
export function openUnitOfWork(db: Database): UnitOfWork {
  const writes: Statement[] = [];
  /** Of the sessions that this request names, by their hashes: the library works with the tokens themselves. */
  const tokens = new Map<string, string>();

  const hashed = (token: string): string => {
    const hash = tokenHashOf(token);
    tokens.set(hash, token);
    return hash;
  };

  const find = async (
    name: string,
    where: Parameters<typeof selectRows>[1],
    limit: number,
    join?: JoinConfig,
  ) => {
    const model = modelOf(name);
    const joins = joinsOf(join);
    const [rows, ...joined] = await db.run([
      selectRows(model, where, limit),
      ...joins.map((each) => selectJoinedRows(model, where, each)),
    ]);
    return rows.map((row) => {
      const parts = joins.map(({ model: other, on }, index) => {
        const related = (joined[index] ?? []).filter((candidate) => candidate[on.to] === row[on.from]);
        return [other, join?.[other]?.relation === "one-to-one" ? related[0] : related] as const;
      });
      return { ...row, ...Object.fromEntries(parts) };
    });
  };

  const adapter = createAdapterFactory({
    config: {
      adapterId: "atrium",
      // Dates are kept as epoch milliseconds, sessions' tokens as hashes, whatever the library calls them.
      customTransformInput: ({ data, field }) => {
        if (data instanceof Date) return data.getTime();
        return field === "tokenHash" && typeof data === "string" ? hashed(data) : data;
      },
      customTransformOutput: ({ data, field, fieldAttributes }) => {
        if (fieldAttributes.type === "date" && typeof data === "number") return new Date(data);
        return field === "token" ? (tokens.get(data) ?? data) : data;
      },
    },
    adapter: () => ({
      async create({ model, data }) {
        writes.push(insertRow(modelOf(model), data));
        return data;
      },
      async update<T>({ model, where, update }: Parameters<CustomAdapter["update"]>[0]) {
        const [row] = await find(model, where, 1);
        if (row === undefined) return null;
        const changes = update as Row;
        writes.push(updateRows(modelOf(model), where, changes));
        return believed<T>({ ...row, ...changes });
      },
      async findOne<T>({ model, where, join }: Parameters<CustomAdapter["findOne"]>[0]) {
        const [row] = await find(model, where, 1, join);
        return row === undefined ? null : believed<T>(row);
      },
      async findMany<T>({ model, where = [], limit, join }: Parameters<CustomAdapter["findMany"]>[0]) {
        return (await find(model, where, limit, join)).map((row) => believed<T>(row));
      },
      async delete({ model, where }) {
        writes.push(deleteRows(modelOf(model), where));
      },
      async deleteMany({ model, where }) {
        writes.push(deleteRows(modelOf(model), where));
        return 0;
      },
      updateMany: () => unneeded("updateMany"),
      count: () => unneeded("count"),
    }),
  });
  return { adapter, writes };
}

/** Some of what an adapter may offer is asked for by none of the library's functions that we use. */
function unneeded(operation: string): never {
  throw new Error(`better-auth asks for ${operation}, which nothing here needs`);
}
