/** Copies an organization to a folder, part by part. An interrupted run is continued by the next one. */
import { randomUUID } from "node:crypto";
import {
  type BackupPlan,
  FILES,
  OBJECTS,
  OBJECTS_AT_ONCE,
  type ObjectRef,
  type ObjectSlices,
  type RowSlice,
} from "../../features/backup/format.ts";
import { CommandError } from "../process/command.ts";
import { type ArchiveFolder, type Extent, NOTHING, type SignedText } from "./archive-folder.ts";
import { FileCopier } from "./file-copier.ts";
import type { OperatorClient } from "./operator-client.ts";

/** How far a backup is: an interrupted run has noted it, and the next one reads it. */
interface Progress {
  readonly accountId: string;
  readonly backupId: string;
  readonly startedAt: string;
  readonly part: number;
  /** Where in the part; null at its beginning. */
  readonly after: unknown;
  /** By part. */
  readonly extents: Readonly<Record<string, Extent>>;
  readonly files: { readonly count: number; readonly bytes: number };
}

const begun = (accountId: string): Progress => ({
  ...{ accountId, backupId: randomUUID(), startedAt: new Date().toISOString() },
  ...{ part: 0, after: null, extents: {}, files: { count: 0, bytes: 0 } },
});

/** The parts whose rows have objects, and what these are called. */
const OBJECTS_OF = { rooms: "room", webhooks: "webhook", workflows: "workflow" } as const;

/** The IDs of the rows of a part. */
async function idsOf(folder: ArchiveFolder, part: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { text } of folder.slices(part))
    ids.push(...(JSON.parse(text) as RowSlice).rows.map(({ id }) => String(id)));
  return ids;
}

/** Rooms first, as they hand events over to the others. */
async function listObjects(folder: ArchiveFolder, shards: number): Promise<readonly ObjectRef[]> {
  const refs: ObjectRef[] = [];
  for (const part of ["rooms", "webhooks", "workflows"] as const)
    refs.push(...(await idsOf(folder, part)).map((id) => ({ kind: OBJECTS_OF[part], id })));
  refs.push(...Array.from({ length: shards }, (_, shard) => ({ kind: "log" as const, id: String(shard) })));
  return refs;
}

export class Backup {
  readonly #client: OperatorClient;
  readonly #folder: ArchiveFolder;
  readonly #files: FileCopier;
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
    this.#files = new FileCopier(client, folder);
    this.#progress = begun(accountId);
  }

  /** Copies what is missing, and returns what the backup has. */
  async run(): Promise<{ readonly slices: number; readonly files: number }> {
    await this.#resume();
    const plan = await this.#client.data<BackupPlan>("begin");
    for (const [index, { name, parent }] of plan.parts.entries()) {
      if (index < this.#progress.part) continue;
      this.#show(`${name} …`);
      await this.#folder.cut(name, this.#extentOf(name));
      if (name === OBJECTS) await this.#copyObjects(plan.shards);
      else await this.#copyRows(name, parent);
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

  #extentOf = (part: string): Extent => this.#progress.extents[part] ?? NOTHING;

  async #note(changes: Partial<Progress>): Promise<void> {
    this.#progress = { ...this.#progress, ...changes };
    await this.#folder.writeProgress(this.#progress);
  }

  async #ask(operation: string, part: string, query: object): Promise<SignedText> {
    const json = { backupId: this.#progress.backupId, ...query };
    const signed = await this.#client.signed(operation, json);
    const extent = await this.#folder.append(part, signed, this.#extentOf(part));
    this.#progress = { ...this.#progress, extents: { ...this.#progress.extents, [part]: extent } };
    return signed;
  }

  async #copyRows(part: string, parent: BackupPlan["parts"][number]["parent"]): Promise<void> {
    const parents = part === FILES && parent ? new Set(await idsOf(this.#folder, parent.part)) : null;
    if (part === FILES) await this.#folder.cut("index of files", this.#extentOf("index of files"));
    do {
      const { text } = await this.#ask("rows", part, { part, after: this.#progress.after });
      const { rows, after } = JSON.parse(text) as RowSlice;
      const keys = rows.filter((row) => parents?.has(String(row.room_id))).map(({ key }) => String(key));
      for (const key of keys) await this.#copyFile(key);
      await this.#note({ after });
    } while (this.#progress.after !== null);
  }

  async #copyFile(key: string): Promise<void> {
    const { backupId, extents, files } = this.#progress;
    const size = await this.#files.copy(backupId, key, this.#extentOf("index of files"));
    if (size === null) return;
    const { extent, bytes } = size;
    this.#progress = {
      ...this.#progress,
      extents: { ...extents, "index of files": extent },
      files: { count: files.count + 1, bytes: files.bytes + bytes },
    };
  }

  async #copyObjects(shards: number): Promise<void> {
    const refs = await listObjects(this.#folder, shards);
    let { index, after } = (this.#progress.after ?? { index: 0, after: null }) as NonNullable<
      ObjectSlices["next"]
    >;
    while (index < refs.length) {
      const objects = refs.slice(index, index + OBJECTS_AT_ONCE);
      const { text } = await this.#ask("objects", OBJECTS, { objects, after });
      const { next } = JSON.parse(text) as ObjectSlices;
      [index, after] = next === null ? [index + objects.length, null] : [index + next.index, next.after];
      await this.#note({ after: { index, after } });
    }
  }

  async #finish({ parts }: BackupPlan): Promise<{ readonly slices: number; readonly files: number }> {
    const { backupId, extents, files, startedAt } = this.#progress;
    const described = [];
    for (const name of [...parts.map((part) => part.name), "index of files"])
      described.push(await this.#folder.describe(name, this.#extentOf(name)));
    const finished = { backupId, startedAt, parts: described, files };
    await this.#folder.complete(await this.#client.signed("finish", finished));
    const slices = Object.values(extents).reduce((sum, extent) => sum + extent.slices, 0);
    return { slices, files: files.count };
  }
}
