/** Reads the folder of a backup without the code that writes it. Every part must match the manifest. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "vitest";
import type { Manifest, ObjectSlices, RowSlice } from "../../../src/features/backup/format.ts";
import { contentOf } from "../../support/archive.ts";

/** By part: keys of rows, storage of objects, or files with checksums of their bytes. */
export type ArchiveContent = Readonly<Record<string, readonly string[]>>;

/** Tables that grow with time, or with each backup. */
const PASSING = /^(audit_entries|receipts|outbox|outbox_events)/;

const hash = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");

export async function readArchive(folder: string): Promise<ArchiveContent> {
  const manifest = JSON.parse(await readFile(path.join(folder, "manifest.json"), "utf8")) as Manifest;
  const content: Record<string, readonly string[]> = {};
  for (const { name, slices, bytes, sha256 } of manifest.parts) {
    const part = await readFile(path.join(folder, `${name.replaceAll(" ", "-")}.slices`));
    expect([name, part.byteLength, hash(part)]).toEqual([name, bytes, sha256]);
    const lines = part
      .toString()
      .split("\n")
      .filter((line) => line !== "");
    expect([name, lines.length]).toEqual([name, slices]);
    if (PASSING.test(name)) continue;
    const parsed = lines.map((line) => JSON.parse(line.slice(line.indexOf(" ") + 1)) as unknown);
    content[name] = (await contentOfPart(folder, name, parsed)).toSorted();
  }
  expect(manifest.files.count).toBe(content["index of files"]?.length);
  return content;
}

async function contentOfPart(folder: string, name: string, slices: readonly unknown[]): Promise<string[]> {
  if (name === "objects" || name === "inboxes") return objectsOf(slices as ObjectSlices[]);
  if (name !== "index of files")
    return (slices as RowSlice[]).flatMap(({ rows }) =>
      rows.map((row) =>
        JSON.stringify([row.id, row.key, row.person_id, row.quota, row.workflow_id, row.version]),
      ),
    );
  const files = slices as { readonly key: string; readonly size: number }[];
  return Promise.all(
    files.map(async ({ key, size }) => {
      const file = hash(key);
      const bytes = await readFile(path.join(folder, "files", file.slice(0, 2), file));
      expect([key, bytes.byteLength]).toEqual([key, size]);
      return `${key} ${hash(bytes)}`;
    }),
  );
}

/** Each object's latest reading, which must have come to its end. */
function objectsOf(slices: readonly ObjectSlices[]): string[] {
  const readings = new Map<string, ObjectSlices["objects"][number]["slice"][]>();
  for (const { kind, id, slice } of slices.flatMap(({ objects }) => objects)) {
    const earlier = readings.get(`${kind} ${id}`) ?? [];
    readings.set(`${kind} ${id}`, earlier[0]?.reading === slice.reading ? [...earlier, slice] : [slice]);
  }
  return [...readings].map(([object, reading]) => {
    expect([object, reading.at(-1)?.cursor]).toEqual([object, null]);
    return `${object} ${JSON.stringify([...contentOf(reading)])}`;
  });
}
