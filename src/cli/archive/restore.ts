/** Restores an organization from the folder of a backup. An interrupted run is continued by the next one. */
import {
  FILES,
  OBJECTS,
  OBJECTS_AT_ONCE,
  type ObjectRef,
  type ObjectSlices,
  type RestorePlan,
  type RowSlice,
} from "../../features/backup/format.ts";
import type { ArchiveFolder, SignedText } from "./archive-folder.ts";
import { FileCopier } from "./file-copier.ts";
import { type OperatorClient, signedRequest } from "./operator-client.ts";

/** Where a run continues: at a slice of a part, both counted from 0. */
type Position = readonly [part: number, slice: number];

const NOTED_EVERY_MS = 2_000;

const positionOf = (text: string): Position => (text === "" ? [0, 0] : (JSON.parse(text) as Position));

export class Restore {
  readonly #client: OperatorClient;
  readonly #folder: ArchiveFolder;
  readonly #files: FileCopier;
  readonly #show: (line: string) => void;
  #notedAt = Date.now();

  constructor(client: OperatorClient, folder: ArchiveFolder, show: (line: string) => void) {
    this.#client = client;
    this.#folder = folder;
    this.#show = show;
    this.#files = new FileCopier(client, folder);
  }

  /** Restores what is missing, and opens the organization. */
  async run(): Promise<void> {
    const signed = await this.#folder.readManifest();
    await this.#folder.check(signed.manifest.parts);
    const { parts, position } = await this.#client.data<RestorePlan>(
      "begin",
      signedRequest(signed, { backup: signed.manifest.backupId }),
    );
    const [first, firstSlice] = positionOf(position);
    if (position !== "") this.#show("Continuing the restore.");
    for (const [index, part] of parts.entries()) {
      if (index < first) continue;
      this.#show(`${part} …`);
      await this.#restorePart(part, index, index === first ? firstSlice : 0);
      await this.#note([index + 1, 0], true);
    }
    await this.#openObjects();
    await this.#client.data("finish");
  }

  async #note(position: Position, isDue = Date.now() - this.#notedAt > NOTED_EVERY_MS): Promise<void> {
    if (!isDue) return;
    await this.#client.data("progress", { json: { position: JSON.stringify(position) } });
    this.#notedAt = Date.now();
  }

  async #restorePart(part: string, index: number, from: number): Promise<void> {
    const files = part === FILES ? await this.#files.readIndex() : null;
    let slice = -1;
    for await (const signed of this.#folder.slices(part)) {
      slice += 1;
      if (slice < from) continue;
      const operation = part === OBJECTS ? "objects" : "rows";
      await this.#client.data(operation, signedRequest(signed, { part }));
      if (files !== null) await this.#restoreFiles(signed, files);
      await this.#note([index, slice + 1]);
    }
  }

  /** Sends the bytes that are missing. Of files that were deleted while they were copied, there are none. */
  async #restoreFiles(
    { text }: SignedText,
    index: Awaited<ReturnType<FileCopier["readIndex"]>>,
  ): Promise<void> {
    const { rows } = JSON.parse(text) as RowSlice;
    const all = rows.map(({ key }) => String(key));
    const gone = all.filter((key) => !index.has(key));
    if (gone.length > 0) await this.#client.data("forget", { json: { keys: gone } });
    const { keys } = await this.#client.data<{ keys: string[] }>("missing", { json: { keys: all } });
    for (const key of keys) {
      const file = index.get(key);
      if (file !== undefined) await this.#files.restore(file);
    }
  }

  /** All objects of the backup, some at a time. */
  async #openObjects(): Promise<void> {
    const found = new Map<string, ObjectRef>();
    for await (const { text } of this.#folder.slices(OBJECTS))
      for (const { kind, id } of (JSON.parse(text) as ObjectSlices).objects)
        found.set(`${kind} ${id}`, { kind, id });
    const refs = [...found.values()];
    for (let from = 0; from < refs.length; from += OBJECTS_AT_ONCE)
      await this.#client.data("open", { json: { objects: refs.slice(from, from + OBJECTS_AT_ONCE) } });
  }
}
