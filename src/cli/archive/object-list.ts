/** The objects of an organization, by the rows that a backup has already. */
import type { ObjectRef, RowSlice } from "../../features/backup/format.ts";
import type { ArchiveFolder } from "./archive-folder.ts";

/** The parts whose rows have objects, and what these are called. */
const OBJECTS_OF = { rooms: "room", webhooks: "webhook", workflows: "workflow" } as const;

/** The IDs of the rows of a part. */
export async function idsOf(folder: ArchiveFolder, part: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { text } of folder.slices(part))
    ids.push(...(JSON.parse(text) as RowSlice).rows.map(({ id }) => String(id)));
  return ids;
}

/** Rooms first, as they hand events over to the others. */
export async function listObjects(folder: ArchiveFolder, shards: number): Promise<readonly ObjectRef[]> {
  const refs: ObjectRef[] = [];
  for (const part of ["rooms", "webhooks", "workflows"] as const)
    refs.push(...(await idsOf(folder, part)).map((id) => ({ kind: OBJECTS_OF[part], id })));
  refs.push(...Array.from({ length: shards }, (_, shard) => ({ kind: "log" as const, id: String(shard) })));
  return refs;
}
