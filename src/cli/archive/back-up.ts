/** Copies an organization to a folder, part by part. An interrupted run is continued by the next one. */
import { randomUUID } from "node:crypto";
import { appendFile, mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { inboxShardOf } from "@atrium/contract/resources/inbox.ts";
import * as format from "../../features/backup/format.ts";
import { CommandError } from "../process/command.ts";
import {
  type ArchiveFolder,
  type Extent,
  FILE_INDEX,
  type IndexedFile,
  NOTHING,
  type SignedText,
} from "./archive-folder.ts";
import type { OperatorClient } from "./operator-client.ts";

interface Progress {
  readonly accountId: string;
  readonly backupId: string;
  readonly startedAt: string;
  readonly part: number;
  /** The position in the part; null at its beginning. */
  readonly after: unknown;
  readonly extents: Readonly<Record<string, Extent>>;
  readonly files: { readonly count: number; readonly bytes: number };
}

/**
 * Parts with objects' IDs in their rows and the kinds of these objects, by part of objects. Rooms come first,
 * as they hand events over to the others.
 */
const OBJECTS_OF = {
  [format.PARTS.objects]: { rooms: "room", webhooks: "webhook", workflows: "workflow" },
  [format.PARTS.inboxes]: {},
} as const;

async function idsOf(folder: ArchiveFolder, part: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { text } of folder.slices(part))
    ids.push(...(JSON.parse(text) as format.RowSlice).rows.map(({ id }) => String(id)));
  return ids;
}

async function listObjects(
  folder: ArchiveFolder,
  part: format.ObjectPart,
  shards: number,
): Promise<readonly format.ObjectRef[]> {
  const refs: format.ObjectRef[] = [];
  for (const [rows, kind] of Object.entries(OBJECTS_OF[part]))
    refs.push(...(await idsOf(folder, rows)).map((id) => ({ kind, id })));
  if (part === format.PARTS.inboxes) {
    const inUse = new Set((await idsOf(folder, "identities")).map(inboxShardOf));
    refs.push(...[...inUse].map((id) => ({ kind: "inbox" as const, id })));
  } else
    refs.push(...Array.from({ length: shards }, (_, shard) => ({ kind: "log" as const, id: String(shard) })));
  return refs;
}

export class Backup {
  readonly #client: OperatorClient;
  readonly #folder: ArchiveFolder;
  readonly #show: (line: string) => void;
  #progress: Progress;

  constructor(
    client: OperatorClient,
    folder: ArchiveFolder,
    accountId: string,
    show: (line: string) => void,
  ) {
    this.#client = client;
    this.#folder = folder;
    this.#show = show;
    this.#progress = {
      accountId,
      backupId: randomUUID(),
      startedAt: new Date().toISOString(),
      part: 0,
      after: null,
      extents: {},
      files: { count: 0, bytes: 0 },
    };
  }

  /** Copies the missing parts, and returns the size of the backup. */
  async run(): Promise<{ readonly slices: number; readonly files: number }> {
    await this.#resume();
    const plan = await this.#client.data<format.BackupPlan>("begin");
    for (const [index, { name, parents }] of plan.parts.entries()) {
      if (index < this.#progress.part) continue;
      this.#show(`${name} …`);
      await this.#folder.cut(name, this.#extentOf(name));
      if (format.isObjectPart(name)) await this.#copyObjects(name, plan.shards);
      else await this.#copyRows(name, parents?.[0]?.part);
      await this.#note({ part: index + 1, after: null });
    }
    return this.#finish(plan);
  }

  async #resume(): Promise<void> {
    const found = (await this.#folder.readProgress()) as Progress | null;
    if (found === null) return;
    const { accountId } = found as Partial<Progress>;
    if (accountId !== this.#progress.accountId)
      throw new CommandError(
        `${this.#folder.path} has a part of a backup of ${accountId === undefined ? "a deployment" : `the organization ${accountId}`}. Name another folder.`,
      );
    this.#show(`Continuing the backup that began at ${found.startedAt}.`);
    this.#progress = found;
  }

  #extentOf(part: string): Extent {
    return this.#progress.extents[part] ?? NOTHING;
  }

  #grow(part: string, extent: Extent): void {
    this.#progress = { ...this.#progress, extents: { ...this.#progress.extents, [part]: extent } };
  }

  async #note(changes: Partial<Progress>): Promise<void> {
    this.#progress = { ...this.#progress, ...changes };
    await this.#folder.writeProgress(this.#progress);
  }

  async #ask(operation: string, part: string, query: object): Promise<SignedText> {
    const json = { backupId: this.#progress.backupId, ...query };
    const signed = await this.#client.signed(operation, json);
    this.#grow(part, await this.#folder.append(part, signed, this.#extentOf(part)));
    return signed;
  }

  async #copyRows(part: string, parent: string | undefined): Promise<void> {
    const parents = part === format.PARTS.files && parent ? new Set(await idsOf(this.#folder, parent)) : null;
    if (part === format.PARTS.files) await this.#folder.cut(FILE_INDEX, this.#extentOf(FILE_INDEX));
    do {
      const { text } = await this.#ask("rows", part, { part, after: this.#progress.after });
      const { rows, after } = JSON.parse(text) as format.RowSlice;
      for (const { room_id, key } of rows)
        if (parents?.has(String(room_id))) await this.#copyFile(String(key));
      await this.#note({ after });
    } while (this.#progress.after !== null);
  }

  /** Copies the bytes of a file, in parts with a signature each, unless it is gone. */
  async #copyFile(key: string): Promise<void> {
    const { backupId, files } = this.#progress;
    const target = this.#folder.bytesOf(key);
    await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
    await writeFile(target, "", { mode: 0o600 });
    const signatures: string[] = [];
    let [offset, size] = [0, 0];
    do {
      const response = await this.#client.send("file", { json: { backupId, key, offset } }, true);
      if (response === null) return rm(target, { force: true });
      await appendFile(target, new Uint8Array(await response.arrayBuffer()));
      signatures.push(response.headers.get(format.HEADERS.signature) ?? "");
      size = Number(response.headers.get(format.HEADERS.fileSize));
      offset += format.FILE_PART_BYTES;
    } while (offset < size);
    const indexed: IndexedFile = { key, size, signatures };
    this.#grow(
      FILE_INDEX,
      await this.#folder.appendUnsigned(FILE_INDEX, indexed, this.#extentOf(FILE_INDEX)),
    );
    this.#progress = { ...this.#progress, files: { count: files.count + 1, bytes: files.bytes + size } };
  }

  async #copyObjects(part: format.ObjectPart, shards: number): Promise<void> {
    const refs = await listObjects(this.#folder, part, shards);
    let { index, after } = (this.#progress.after ?? { index: 0, after: null }) as NonNullable<
      format.ObjectSlices["next"]
    >;
    while (index < refs.length) {
      const objects = refs.slice(index, index + format.OBJECTS_AT_ONCE);
      const { text } = await this.#ask("objects", part, { part, objects, after });
      const { next } = JSON.parse(text) as format.ObjectSlices;
      [index, after] = next === null ? [index + objects.length, null] : [index + next.index, next.after];
      await this.#note({ after: { index, after } });
    }
  }

  async #finish({ parts }: format.BackupPlan): Promise<{ readonly slices: number; readonly files: number }> {
    const { backupId, extents, files, startedAt } = this.#progress;
    const described = [];
    for (const name of [...parts.map((part) => part.name), FILE_INDEX])
      described.push(await this.#folder.describe(name, this.#extentOf(name)));
    const finished = { backupId, startedAt, parts: described, files };
    await this.#folder.complete(await this.#client.signed("finish", finished));
    const slices = Object.values(extents).reduce((sum, extent) => sum + extent.slices, 0);
    return { slices, files: files.count };
  }
}
