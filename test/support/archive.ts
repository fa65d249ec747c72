/** Archives of objects in tests: collected as a backup does, and put back into the same, emptied object. */
import type { ArchiveSlice } from "../../src/platform/objects/archive-slice.ts";
import type { ArchivedObject } from "../../src/platform/objects/object-archive.ts";

/** The slices of one reading, as JSON has brought them. `between` runs after each slice but the last. */
export async function collectSlices(
  object: Pick<ArchivedObject, "archive">,
  between: (slices: readonly ArchiveSlice[]) => unknown = () => undefined,
): Promise<ArchiveSlice[]> {
  let slices: ArchiveSlice[] = [];
  for (;;) {
    const slice = await object.archive(slices.at(-1)?.cursor ?? null);
    if (slice.reading !== slices[0]?.reading) slices = [];
    slices.push(parse(JSON.stringify(slice)));
    if (slice.cursor === null) return slices;
    await between(slices);
  }
}

const parse = (json: string): ArchiveSlice => JSON.parse(json) as ArchiveSlice;

/** Content of all slices: the rows of each table in order, without fields that name the reading. */
export function contentOf(slices: readonly ArchiveSlice[]): ReadonlyMap<string, readonly string[]> {
  const tables = new Map<string, string[]>();
  for (const { table, values } of slices.flatMap(({ rows }) => rows))
    tables.set(table, [...(tables.get(table) ?? []), JSON.stringify(values)]);
  return tables;
}

/** Writes all slices, each of them twice, and opens the object. */
export async function restoreSlices(object: ArchivedObject, slices: readonly ArchiveSlice[]): Promise<void> {
  for (const slice of slices) for (const same of [slice, slice]) await object.restore(same);
  await object.finishRestore();
  await object.finishRestore();
}

/** Deletes every table. */
export function dropTables({ sql }: DurableObjectStorage): void {
  const query =
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\' AND name NOT LIKE 'sqlite%'";
  for (const { name } of sql.exec<{ name: string }>(query).toArray()) sql.exec(`DROP TABLE "${name}"`);
}
