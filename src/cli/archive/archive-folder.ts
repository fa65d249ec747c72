/** The folder of an organization's backup: files of signed slices, the bytes of files, and the manifest that makes it whole. */
import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { appendFile, mkdir, readFile, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { Manifest } from "../../backup/format.ts";
import { CommandError } from "../process/command.ts";
import { makeWritableFolder } from "../process/folder.ts";

/** A slice as the service answered it, with its signature. */
export interface SignedText {
  readonly signature: string;
  readonly text: string;
}

/** What a part has so far. */
export interface Extent {
  readonly slices: number;
  readonly bytes: number;
}

const MANIFEST = "manifest.json";
const SIGNATURE = "manifest.signature";
const PROGRESS = "progress.json";

export class ArchiveFolder {
  readonly path: string;

  constructor(folder: string) {
    this.path = folder;
  }

  get isWhole(): boolean {
    return existsSync(path.join(this.path, MANIFEST));
  }

  /** Makes the folder, which only its owner can read, unless it is there. */
  async make(): Promise<void> {
    await makeWritableFolder(path.dirname(this.path));
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    await makeWritableFolder(this.path);
  }

  fileOf(part: string): string {
    return path.join(this.path, `${part.replaceAll(" ", "-")}.slices`);
  }

  /** Where the bytes of a file are. */
  bytesOf(key: string): string {
    const name = createHash("sha256").update(key).digest("hex");
    return path.join(this.path, "files", name.slice(0, 2), name);
  }

  /** Appends a slice, and returns what the part has then. */
  async append(part: string, { signature, text }: SignedText, { slices, bytes }: Extent): Promise<Extent> {
    const line = Buffer.from(`${signature} ${text}\n`);
    await appendFile(this.fileOf(part), line, { mode: 0o600 });
    return { slices: slices + 1, bytes: bytes + line.byteLength };
  }

  /** Removes what an interrupted run has appended and not noted. Throws when less is there than it has noted. */
  async cut(part: string, { bytes }: Extent): Promise<void> {
    const file = this.fileOf(part);
    if (!existsSync(file)) await writeFile(file, "", { mode: 0o600 });
    if ((await stat(file)).size < bytes) throw this.#damaged(file);
    await truncate(file, bytes);
  }

  /** Throws when a part has something else than was noted, as two commands at once would leave it. */
  async requireExtent(part: string, { bytes }: Extent): Promise<void> {
    const file = this.fileOf(part);
    if ((await stat(file)).size !== bytes) throw this.#damaged(file);
  }

  #damaged(file: string): CommandError {
    return new CommandError(
      `${file} is damaged, by a failure of power or by another command that wrote to it. Remove ${this.path}, and run the backup again.`,
    );
  }

  /** The slices of a part, in their order. */
  async *slices(part: string): AsyncGenerator<SignedText, void, void> {
    const input = createReadStream(this.fileOf(part), "utf8");
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      const space = line.indexOf(" ");
      if (space > 0) yield { signature: line.slice(0, space), text: line.slice(space + 1) };
    }
  }

  /** In hexadecimal. */
  async checksum(part: string): Promise<string> {
    const hash = createHash("sha256");
    for await (const chunk of createReadStream(this.fileOf(part))) hash.update(chunk as Buffer);
    return hash.digest("hex");
  }

  /** What an interrupted run has noted; null when there was none. */
  async readProgress(): Promise<unknown> {
    const file = path.join(this.path, PROGRESS);
    const text = await readFile(file, "utf8").catch(() => null);
    try {
      return text === null ? null : (JSON.parse(text) as unknown);
    } catch {
      throw this.#damaged(file);
    }
  }

  async writeProgress(progress: object): Promise<void> {
    const file = path.join(this.path, PROGRESS);
    await writeFile(`${file}.new`, JSON.stringify(progress), { mode: 0o600 });
    await rename(`${file}.new`, file);
  }

  /** Makes the backup whole. */
  async complete({ signature, text }: SignedText): Promise<void> {
    await writeFile(path.join(this.path, SIGNATURE), signature, { mode: 0o600 });
    await writeFile(path.join(this.path, `${MANIFEST}.new`), text, { mode: 0o600 });
    await rename(path.join(this.path, `${MANIFEST}.new`), path.join(this.path, MANIFEST));
    await rm(path.join(this.path, PROGRESS), { force: true });
  }

  /** The manifest, parsed and as it was signed. Throws when the backup is not whole. */
  async readManifest(): Promise<SignedText & { readonly manifest: Manifest }> {
    if (!this.isWhole)
      throw new CommandError(
        `${this.path} is no complete backup: it has no ${MANIFEST}. Run the backup again: it continues.`,
      );
    const text = await readFile(path.join(this.path, MANIFEST), "utf8");
    const signature = (await readFile(path.join(this.path, SIGNATURE), "utf8")).trim();
    const parsed = Manifest.safeParse(JSON.parse(text));
    if (!parsed.success)
      throw new CommandError(`${this.path}/${MANIFEST} is damaged; restore another backup.`);
    return { manifest: parsed.data, text, signature };
  }
}
