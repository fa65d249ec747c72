/** The names of rooms in the narrowing of a credential. */
import * as z from "zod";

/**
 * A room as a credential names it: its ID, its custom ID, or the beginning of custom IDs before `*`. An object has a
 * custom ID that looks like one of the others.
 */
export const RoomName = z.union([z.string(), z.strictObject({ customId: z.string() })]);
export type RoomName = z.infer<typeof RoomName>;
