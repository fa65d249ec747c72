/** The folder of a deployment's backup: one folder for each organization, and beside them the people and the manifest of all. */
import { readdir, rm } from "node:fs/promises";
import path from "node:path";
import { DeploymentManifest, isAccountId, ORGANIZATIONS } from "../../features/backup/format.ts";
import { CommandError } from "../process/command.ts";
import { ArchiveFolder, type Extent, NOTHING } from "./archive-folder.ts";

/** What the index says of an organization whose folder is whole. */
export interface IndexedOrganization {
  readonly id: string;
  readonly name: string;
  /** Of the organization's own backup. */
  readonly backupId: string;
}

const FOLDER = "organizations";
/** What a command leaves that is killed before it has noted anything. */
const UNFINISHED = /^\.probe-|\.new$/;

const isMissing = (error: NodeJS.ErrnoException): boolean => error.code === "ENOENT";

/** The files of a folder; none where there is no folder. */
const filesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error) => {
    if (isMissing(error)) return [];
    throw error;
  });

export class DeploymentFolder {
  /** What is beside the organizations. */
  readonly shared: ArchiveFolder;

  constructor(folder: string) {
    this.shared = new ArchiveFolder(folder, "deployment");
  }

  get path(): string {
    return this.shared.path;
  }

  /** Where an organization's own backup is, which can be restored on its own, too. */
  organization(id: string): ArchiveFolder {
    return new ArchiveFolder(path.join(this.path, FOLDER, id));
  }

  /** Throws unless the folder is empty or does not exist, so that nothing of another kind is mixed with the backup. */
  async requireEmpty(): Promise<void> {
    if ((await filesIn(this.path)).some((name) => !UNFINISHED.test(name)))
      throw new CommandError(
        `${this.path} has something else than a part of a deployment's backup. Name a new folder.`,
      );
  }

  /** The manifest, with the index as it says. */
  async readManifest() {
    if (new ArchiveFolder(this.path).isWhole)
      throw new CommandError(
        `${this.path} is a backup of one organization. Leave --all out, or name another folder.`,
      );
    const signed = await this.shared.readSigned(DeploymentManifest);
    await this.shared.check(signed.manifest.parts);
    return signed;
  }

  /** Writes the index of all organizations whose backup is whole. Those that were deleted while they were copied go. */
  async writeIndex(show: (line: string) => void): Promise<Extent> {
    await this.shared.cut(ORGANIZATIONS, NOTHING);
    let extent = NOTHING;
    for (const id of (await filesIn(path.join(this.path, FOLDER))).filter(isAccountId).sort()) {
      const folder = this.organization(id);
      if (folder.isWhole) {
        const { manifest } = await folder.readManifest();
        const indexed: IndexedOrganization = {
          ...{ id, name: manifest.organization.name, backupId: manifest.backupId },
        };
        const line = { signature: "-", text: JSON.stringify(indexed) };
        extent = await this.shared.append(ORGANIZATIONS, line, extent);
      } else {
        show(`The organization ${id} was deleted before it was copied, and is left out.`);
        await rm(folder.path, { recursive: true });
      }
    }
    return extent;
  }

  async *readIndex(): AsyncGenerator<IndexedOrganization, void, void> {
    for await (const { text } of this.shared.slices(ORGANIZATIONS))
      yield JSON.parse(text) as IndexedOrganization;
  }
}
