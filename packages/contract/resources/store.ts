/** The stores of a room in responses: entries, pages of them, and lists of stores. */
import * as z from "zod";

const Seq = z.int().meta({ description: "The `seq` of the change that was made.", minimum: 0, example: 7 });
const Version = z
  .int()
  .meta({ description: "The `seq` of the change that gave the entry this value.", minimum: 0, example: 7 });

export const StoreEntry = z.object({
  value: z.unknown().meta({ description: "Any JSON.", example: { title: "Buy milk", done: false } }),
  version: Version,
});
export type StoreEntry = z.infer<typeof StoreEntry>;

export const WrittenEntry = z.object({ version: Version, seq: Seq });
export type WrittenEntry = z.infer<typeof WrittenEntry>;

export const DeletedEntry = z.object({ seq: Seq });

export const StoreSummary = z.object({
  name: z.string(),
  entries: z.int().meta({ minimum: 1, example: 1 }),
  bytes: z.int().meta({ description: "Of keys and values, in UTF-8.", minimum: 1, example: 40 }),
});
export type StoreSummary = z.infer<typeof StoreSummary>;

export const StorePage = z.object({
  entries: z.record(z.string(), StoreEntry),
  seq: Seq,
  next: z.string().optional().meta({ description: "The last key, if other entries follow." }),
});
export type StorePage = z.infer<typeof StorePage>;
