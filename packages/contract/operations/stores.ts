/** Operations on stores. */
import * as z from "zod";
import { describeField, fieldOf, ownIssues } from "../issues.ts";
import { LIMITS } from "../limits.ts";
import {
  DeletedEntry,
  StoreEntry,
  StorePage as StorePageShown,
  StoreSummary,
  WrittenEntry,
} from "../resources/store.ts";
import { segment, text } from "../text.ts";
import { expensiveRead, innerOperation, operation, WRITE } from "./operation.ts";
import { Json, JsonObject, Nothing } from "./values.ts";

export const StoreName = text(1, LIMITS.storeNameLength);
export const Key = text(1, LIMITS.keyLength);
/** The store and key of a write: its entry can be read at its address. */
export const WrittenPlace = z.object({
  store: segment(LIMITS.storeNameLength),
  key: segment(LIMITS.keyLength),
});
/** The version that the entry must have; 0 if it must not exist. */
export const IfVersion = z.int().min(0).optional();

/** A page of a store: the entries after a key, in the order of keys. */
const StorePage = z.object({
  store: StoreName,
  after: Key.optional(),
  limit: z.int().min(1).max(LIMITS.pageEntries).default(LIMITS.pageEntries),
});
export type StorePage = z.infer<typeof StorePage>;
/** `download` allows a download instead of a page of a large store, and `lines` one with a single response. */
const StoreSync = StorePage.extend({ download: z.boolean().optional(), lines: z.boolean().optional() });

const address = { store: StoreName, key: Key, ifVersion: IfVersion };

const StoreSet = WrittenPlace.extend({ ifVersion: IfVersion, value: Json });
const StoreUpdate = WrittenPlace.extend({ ifVersion: IfVersion, value: JsonObject });
const StoreDelete = z.object(address);

export const StoreOperation = z.discriminatedUnion("type", [
  StoreSet.extend({ type: z.literal("STORE_SET") }),
  StoreUpdate.extend({ type: z.literal("STORE_UPDATE") }),
  StoreDelete.extend({ type: z.literal("STORE_DELETE") }),
]);
export type StoreOperation = z.infer<typeof StoreOperation>;

/** An operation of a batch that violates its schema; `message` starts with the field. */
interface InvalidOperation {
  readonly type: "INVALID";
  readonly message: string;
}
export type BatchOperation = StoreOperation | InvalidOperation;

/** Operations of a batch. One that is invalid fails as any other can: alone, unless the batch is atomic. */
export const StoreBatch = z.object({
  operations: z
    .array(z.unknown())
    .min(1)
    .max(LIMITS.batchOperations)
    .transform((operations) => operations.map(parseOperation)),
  atomic: z.boolean().default(true),
});
export type StoreBatch = z.infer<typeof StoreBatch>;

function parseOperation(operation: unknown, index: number): BatchOperation {
  const parsed = StoreOperation.safeParse(operation);
  if (parsed.success) return parsed.data;
  const [issue] = ownIssues(parsed.error.issues);
  const field = fieldOf(["operations", index, ...(issue?.path ?? [])]);
  return { type: "INVALID", message: describeField(field, issue?.message ?? "is not valid") };
}

const BatchApplied = z.object({
  results: z
    .array(
      z.union([z.object({ version: z.int().optional(), seq: z.int() }), z.object({ error: z.unknown() })]),
    )
    .readonly(),
  seq: z.int(),
});

const WRITE_ENTRY = { ...WRITE, rows: 1 } as const;

export const STORE_OPERATIONS = {
  STORE_LIST: innerOperation({
    done: "Stores retrieved",
    input: () => Nothing,
    output: () => z.object({ stores: z.array(StoreSummary) }),
    cost: expensiveRead(20),
    right: "read",
  }),
  STORE_SYNC: operation({
    done: "Store retrieved",
    input: () => StoreSync,
    output: () => StorePageShown.extend({ download: z.string().optional(), lineBytes: z.int().optional() }),
    right: "read",
    cost: expensiveRead<StorePage>(({ limit }) => limit / 20),
  }),
  STORE_GET: operation({
    done: "Entry retrieved",
    input: () => z.object({ store: StoreName, key: Key }),
    output: () => StoreEntry,
    right: "read",
    cost: WRITE_ENTRY,
  }),
  STORE_SET: operation({
    done: "Entry set",
    input: () => StoreSet,
    output: () => WrittenEntry,
    right: "stores:write",
    cost: WRITE_ENTRY,
    isLasting: true,
  }),
  STORE_UPDATE: operation({
    done: "Entry updated",
    input: () => StoreUpdate,
    output: () => WrittenEntry,
    right: "stores:write",
    cost: WRITE_ENTRY,
    isLasting: true,
  }),
  STORE_DELETE: operation({
    done: "Entry deleted",
    input: () => StoreDelete,
    output: () => DeletedEntry,
    right: "stores:write",
    cost: WRITE_ENTRY,
    isLasting: true,
  }),
  STORE_BATCH: operation({
    done: "Operations applied",
    input: () => StoreBatch,
    output: () => BatchApplied,
    right: "stores:write",
    cost: { ...WRITE, rows: ({ operations }) => operations.length },
    isLasting: true,
  }),
} as const;
