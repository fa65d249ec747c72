/** The folder of a backup: files of signed slices, the bytes of files, and the manifest that makes it whole. */
import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { appendFile, mkdir, readFile, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseJson } from "@atrium/contract/text.ts";
import type * as z from "zod";
import { Manifest } from "../../features/backup/format.ts";
import { CommandError } from "../process/command.ts";
import { linesOf, makeWritableFolder, readIfThere } from "../process/folder.ts";

/** A slice of the service, with its signature. */
export interface SignedText {
  readonly signature: string;
  readonly text: string;
}

export interface Extent {
  readonly slices: number;
  readonly bytes: number;
}

export const NOTHING: Extent = { slices: 0, bytes: 0 };

/** The part that lists the files whose bytes the backup has. */
export const FILE_INDEX = "index of files";

export interface IndexedFile {
  readonly key: string;
  readonly size: number;
  /** One for each of its parts. */
  readonly signatures: readonly string[];
}

type DescribedPart = Manifest["parts"][number];

interface SignedManifest<Form> extends SignedText {
  readonly manifest: Form;
}

const PROGRESS = "progress.json";

export class ArchiveFolder {
  readonly path: string;
  readonly #manifest: string;
  readonly #signature: string;

  constructor(folder: string, manifest = "manifest") {
    this.path = folder;
    this.#manifest = path.join(folder, `${manifest}.json`);
    this.#signature = path.join(folder, `${manifest}.signature`);
  }

  get isWhole(): boolean {
    return existsSync(this.#manifest);
  }

  /** Makes the folder if it is missing; only its owner can read it. */
  async make(): Promise<void> {
    await makeWritableFolder(path.dirname(this.path));
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    await makeWritableFolder(this.path);
  }

  fileOf(part: string): string {
    return path.join(this.path, `${part.replaceAll(" ", "-")}.slices`);
  }

  bytesOf(key: string): string {
    const name = createHash("sha256").update(key).digest("hex");
    return path.join(this.path, "files", name.slice(0, 2), name);
  }

  async append(part: string, { signature, text }: SignedText, { slices, bytes }: Extent): Promise<Extent> {
    const line = Buffer.from(`${signature} ${text}\n`);
    await appendFile(this.fileOf(part), line, { mode: 0o600 });
    return { slices: slices + 1, bytes: bytes + line.byteLength };
  }

  /** Appends a line of the command's own. */
  appendUnsigned(part: string, value: object, extent: Extent): Promise<Extent> {
    return this.append(part, { signature: "-", text: JSON.stringify(value) }, extent);
  }

  /** Removes slices that an interrupted run has appended and not noted. Throws when noted ones are missing. */
  async cut(part: string, { bytes }: Extent): Promise<void> {
    const file = this.fileOf(part);
    if (!existsSync(file)) await writeFile(file, "", { mode: 0o600 });
    if ((await stat(file)).size < bytes) throw this.#damaged(file);
    await truncate(file, bytes);
  }

  /** Describes a part for the manifest. Throws when it differs from the note, as after two commands at once. */
  async describe(part: string, extent: Extent): Promise<DescribedPart> {
    const file = this.fileOf(part);
    if ((await stat(file)).size !== extent.bytes) throw this.#damaged(file);
    return { name: part, ...extent, sha256: await this.#checksum(part) };
  }

  async check(parts: readonly DescribedPart[]): Promise<void> {
    for (const { name, sha256 } of parts)
      if ((await this.#checksum(name).catch(() => "")) !== sha256)
        throw new CommandError(`${this.fileOf(name)} is missing or damaged; restore another backup.`);
  }

  #damaged(file: string): CommandError {
    return new CommandError(
      `${file} is damaged, by a failure of power or by another command that wrote to it. Remove ${this.path}, and run the backup again.`,
    );
  }

  /** The slices of a part, in their order. */
  async *slices(part: string): AsyncGenerator<SignedText, void, void> {
    for await (const line of linesOf(this.fileOf(part))) {
      const space = line.indexOf(" ");
      if (space > 0) yield { signature: line.slice(0, space), text: line.slice(space + 1) };
    }
  }

  async #checksum(part: string): Promise<string> {
    const hash = createHash("sha256");
    for await (const chunk of createReadStream(this.fileOf(part))) hash.update(chunk as Buffer);
    return hash.digest("hex");
  }

  /** The note of an interrupted run; null when there was none. */
  async readProgress(): Promise<unknown> {
    const file = path.join(this.path, PROGRESS);
    const text = await readIfThere(file);
    if (text === null) return null;
    const progress = parseJson(text);
    if (progress === undefined) throw this.#damaged(file);
    return progress;
  }

  async writeProgress(progress: object): Promise<void> {
    const file = path.join(this.path, PROGRESS);
    await writeFile(`${file}.new`, JSON.stringify(progress), { mode: 0o600 });
    await rename(`${file}.new`, file);
  }

  async complete({ signature, text }: SignedText): Promise<void> {
    await writeFile(this.#signature, signature, { mode: 0o600 });
    await writeFile(`${this.#manifest}.new`, text, { mode: 0o600 });
    await rename(`${this.#manifest}.new`, this.#manifest);
    await rm(path.join(this.path, PROGRESS), { force: true });
  }

  /** An organization's manifest. Throws when the backup is not whole. */
  readManifest(): Promise<SignedManifest<Manifest>> {
    return this.readSigned(Manifest);
  }

  async readSigned<Form>(form: z.ZodType<Form>): Promise<SignedManifest<Form>> {
    if (!this.isWhole)
      throw new CommandError(
        `${this.path} is no complete backup: it has no ${path.basename(this.#manifest)}. Run the backup again: it continues.`,
      );
    const text = await readFile(this.#manifest, "utf8");
    const signature = (await readIfThere(this.#signature)) ?? "";
    const parsed = form.safeParse(parseJson(text));
    if (!parsed.success) throw new CommandError(`${this.#manifest} is damaged; restore another backup.`);
    return { manifest: parsed.data, text, signature: signature.trim() };
  }
}
