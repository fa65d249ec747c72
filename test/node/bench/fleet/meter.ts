/** Counts the resources of a Worker and its objects, in the units of Cloudflare's bill. Runs in workerd. */
/// <reference types="@cloudflare/workers-types" />
import { DurableObject } from "cloudflare:workers";
import { emptyBill, type ObjectClass } from "./bill.ts";

export const bill = emptyBill();

/** D1 as it is, with its batches counted: all of Atrium's statements run in batches (src/platform/d1/d1.ts). */
export function meteredDatabase(d1: D1Database): D1Database {
  return new Proxy(d1, {
    get(target, name) {
      if (name === "batch") return (statements: D1PreparedStatement[]) => countBatch(target, statements);
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

async function countBatch(d1: D1Database, statements: D1PreparedStatement[]): Promise<D1Result[]> {
  const results = await d1.batch(statements);
  bill.database.trips += 1;
  bill.database.statements += statements.length;
  for (const { meta } of results) {
    bill.database.rowsRead += meta.rows_read;
    bill.database.rowsWritten += meta.rows_written;
  }
  return results;
}

const KINDS: Readonly<Record<string, "alarms" | "messages" | null>> = {
  alarm: "alarms",
  webSocketMessage: "messages",
  // Part of the connection, and not billed.
  webSocketClose: null,
  webSocketError: null,
};

/** Names of the methods of a class and of those that it extends, but for the platform's own. */
function methodsOf(prototype: object): Set<string> {
  const names = new Set<string>();
  for (let each = prototype; each !== DurableObject.prototype; each = Object.getPrototypeOf(each))
    for (const name of Object.getOwnPropertyNames(each)) names.add(name);
  return names;
}

/** Replaces the methods of a class of objects, which the platform calls by name, by ones that count. */
export function meterClass(subclass: { readonly prototype: object }, name: ObjectClass): void {
  const seconds = new WeakMap<object, number>();
  const counts = bill.objects[name];
  for (const method of methodsOf(subclass.prototype)) {
    const original: unknown = Reflect.get(subclass.prototype, method);
    if (method === "constructor" || typeof original !== "function") continue;
    const kind = method in KINDS ? KINDS[method] : "calls";
    Object.defineProperty(subclass.prototype, method, {
      value(this: object, ...args: unknown[]): unknown {
        if (kind) counts[kind] += 1;
        const second = Math.floor(Date.now() / 1000);
        if (seconds.get(this) !== second) counts.activeSeconds += 1;
        seconds.set(this, second);
        return Reflect.apply(original, this, args);
      },
    });
  }
}

/** Counts the rows that an object reads and writes, and the alarms that it sets. */
export function meterStorage({ storage }: DurableObjectState, name: ObjectClass): void {
  const counts = bill.objects[name];
  const { sql } = storage;
  const exec = sql.exec.bind(sql);
  let size = sql.databaseSize;
  Object.defineProperty(sql, "exec", {
    value: (query: string, ...values: unknown[]) => {
      const cursor = exec(query, ...values);
      // The object reads its cursors at once.
      queueMicrotask(() => {
        counts.rowsRead += cursor.rowsRead;
        counts.rowsWritten += cursor.rowsWritten;
        if (cursor.rowsWritten === 0) return;
        counts.storedBytes += sql.databaseSize - size;
        size = sql.databaseSize;
      });
      return cursor;
    },
  });
  const setAlarm = storage.setAlarm.bind(storage);
  Object.defineProperty(storage, "setAlarm", {
    value: (time: number | Date, options?: DurableObjectSetAlarmOptions) => {
      counts.rowsWritten += 1;
      return setAlarm(time, options);
    },
  });
}
