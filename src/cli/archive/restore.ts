/** Restores an organization from the folder of a backup. An interrupted run is continued by the next one. */

import { open } from "node:fs/promises";
import * as format from "../../features/backup/format.ts";
import type { BlobPart } from "../../features/files/storage/blobs.ts";
import { type ArchiveFolder, FILE_INDEX, type IndexedFile, type SignedText } from "./archive-folder.ts";
import { type OperatorClient, signedRequest } from "./operator-client.ts";

/** The slice of a part at which a run continues, both counted from 0. */
type Position = readonly [part: number, slice: number];

interface SentPart {
  readonly upload: string | null;
  readonly part: BlobPart | null;
}

const NOTED_EVERY_MS = 2_000;

const positionOf = (text: string): Position => (text === "" ? [0, 0] : (JSON.parse(text) as Position));

export class Restore {
  readonly #client: OperatorClient;
  readonly #folder: ArchiveFolder;
  readonly #show: (line: string) => void;
  #notedAt = Date.now();

  constructor(client: OperatorClient, folder: ArchiveFolder, show: (line: string) => void) {
    this.#client = client;
    this.#folder = folder;
    this.#show = show;
  }

  /** Restores the missing parts, and opens the organization. */
  async run(): Promise<void> {
    const signed = await this.#folder.readManifest();
    await this.#folder.check(signed.manifest.parts);
    const { parts, position } = await this.#client.data<format.RestorePlan>(
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
    const files = part === format.PARTS.files ? await this.#readFileIndex() : null;
    let slice = -1;
    for await (const signed of this.#folder.slices(part)) {
      slice += 1;
      if (slice < from) continue;
      const operation = format.isObjectPart(part) ? "objects" : "rows";
      await this.#client.data(operation, signedRequest(signed, { part }));
      if (files !== null) await this.#restoreFiles(signed, files);
      await this.#note([index, slice + 1]);
    }
  }

  /** Sends the missing bytes. Files that were deleted during the copy have none. */
  async #restoreFiles({ text }: SignedText, index: ReadonlyMap<string, IndexedFile>): Promise<void> {
    const { rows } = JSON.parse(text) as format.RowSlice;
    const all = rows.map(({ key }) => String(key));
    const gone = all.filter((key) => !index.has(key));
    if (gone.length > 0) await this.#client.data("forget", { json: { keys: gone } });
    const { keys } = await this.#client.data<{ keys: string[] }>("missing", { json: { keys: all } });
    for (const key of keys) {
      const file = index.get(key);
      if (file !== undefined) await this.#restoreFile(file);
    }
  }

  async #readFileIndex(): Promise<ReadonlyMap<string, IndexedFile>> {
    const index = new Map<string, IndexedFile>();
    for await (const { text } of this.#folder.slices(FILE_INDEX)) {
      const file = JSON.parse(text) as IndexedFile;
      index.set(file.key, file);
    }
    return index;
  }

  async #restoreFile({ key, size, signatures }: IndexedFile): Promise<void> {
    const source = await open(this.#folder.bytesOf(key));
    try {
      let upload: string | null = null;
      const parts: BlobPart[] = [];
      for (const [index, signature] of signatures.entries()) {
        const offset = index * format.FILE_PART_BYTES;
        const bytes = new Uint8Array(Math.min(format.FILE_PART_BYTES, size - offset));
        await source.read(bytes, 0, bytes.byteLength, offset);
        const query = { key, offset: String(offset), ...(upload !== null && { upload }) };
        const headers = { [format.HEADERS.signature]: signature };
        const sent: SentPart = await this.#client.data<SentPart>("file", { bytes, query, headers });
        upload = sent.upload;
        if (sent.part !== null) parts.push(sent.part);
      }
      if (upload !== null) await this.#client.data("complete-file", { json: { key, upload, parts } });
    } finally {
      await source.close();
    }
  }

  async #openObjects(): Promise<void> {
    const found = new Map<string, format.ObjectRef>();
    for (const part of format.OBJECT_PARTS)
      for await (const { text } of this.#folder.slices(part))
        for (const { kind, id } of (JSON.parse(text) as format.ObjectSlices).objects)
          found.set(`${kind} ${id}`, { kind, id });
    const refs = [...found.values()];
    for (let from = 0; from < refs.length; from += format.OBJECTS_AT_ONCE)
      await this.#client.data("open", { json: { objects: refs.slice(from, from + format.OBJECTS_AT_ONCE) } });
  }
}
