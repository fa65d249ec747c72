/** Copies the bytes of files between the service and the folder of a backup, in parts that are signed each. */
import { appendFile, mkdir, open, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { FILE_PART_BYTES, FILE_SIZE_HEADER, SIGNATURE_HEADER } from "../../features/backup/format.ts";
import type { BlobPart } from "../../features/files/storage/blobs.ts";
import type { ArchiveFolder, Extent } from "./archive-folder.ts";
import type { OperatorClient } from "./operator-client.ts";

/** What the index of a backup says of a file. */
export interface IndexedFile {
  readonly key: string;
  readonly size: number;
  /** Of its parts. */
  readonly signatures: readonly string[];
}

interface SentPart {
  readonly upload: string | null;
  readonly part: BlobPart | null;
}

export class FileCopier {
  readonly #client: OperatorClient;
  readonly #folder: ArchiveFolder;

  constructor(client: OperatorClient, folder: ArchiveFolder) {
    this.#client = client;
    this.#folder = folder;
  }

  /** Copies a file from the service, and returns what the index has then; null when the file is gone. */
  async copy(
    backupId: string,
    key: string,
    before: Extent,
  ): Promise<{ readonly extent: Extent; readonly bytes: number } | null> {
    const target = this.#folder.bytesOf(key);
    await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
    await writeFile(target, "", { mode: 0o600 });
    const signatures: string[] = [];
    let [offset, size] = [0, 0];
    do {
      const response = await this.#client.send("file", { json: { backupId, key, offset } }, true);
      if (response === null) {
        await rm(target, { force: true });
        return null;
      }
      const bytes = new Uint8Array(await response.arrayBuffer());
      await appendFile(target, bytes);
      signatures.push(response.headers.get(SIGNATURE_HEADER) ?? "");
      size = Number(response.headers.get(FILE_SIZE_HEADER));
      offset += FILE_PART_BYTES;
    } while (offset < size);
    const indexed: IndexedFile = { key, size, signatures };
    const line = { signature: "-", text: JSON.stringify(indexed) };
    return { extent: await this.#folder.append("index of files", line, before), bytes: size };
  }

  /** The files that the backup has the bytes of. */
  async readIndex(): Promise<ReadonlyMap<string, IndexedFile>> {
    const index = new Map<string, IndexedFile>();
    for await (const { text } of this.#folder.slices("index of files")) {
      const file = JSON.parse(text) as IndexedFile;
      index.set(file.key, file);
    }
    return index;
  }

  /** Sends a file to the service. */
  async restore({ key, size, signatures }: IndexedFile): Promise<void> {
    const source = await open(this.#folder.bytesOf(key));
    try {
      let upload: string | null = null;
      const parts: BlobPart[] = [];
      for (const [index, signature] of signatures.entries()) {
        const offset = index * FILE_PART_BYTES;
        const bytes = new Uint8Array(Math.min(FILE_PART_BYTES, size - offset));
        await source.read(bytes, 0, bytes.byteLength, offset);
        const query = { key, offset: String(offset), ...(upload !== null && { upload }) };
        const headers = { [SIGNATURE_HEADER]: signature };
        const sent: SentPart = await this.#client.data<SentPart>("file", { bytes, query, headers });
        upload = sent.upload;
        if (sent.part !== null) parts.push(sent.part);
      }
      if (upload !== null) await this.#client.data("complete-file", { json: { key, upload, parts } });
    } finally {
      await source.close();
    }
  }
}
