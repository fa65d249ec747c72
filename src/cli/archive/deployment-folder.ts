/** The folder of a deployment's backup: a folder for each organization, the people and the manifest of all. */

import { readdir, rm } from "node:fs/promises";
import path from "node:path";
import { DeploymentManifest, isAccountId, PARTS } from "../../features/backup/format.ts";
import { CommandError } from "../process/command.ts";
import { ArchiveFolder, type Extent, NOTHING } from "./archive-folder.ts";

export interface IndexedOrganization {
  readonly id: string;
  readonly name: string;
  readonly backupId: string;
}

const FOLDER = "organizations";
/** Leftovers of a command that was killed before its first note. */
const UNFINISHED = /^\.probe-|\.new$/;

const filesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });

export class DeploymentFolder {
  readonly shared: ArchiveFolder;

  constructor(folder: string) {
    this.shared = new ArchiveFolder(folder, "deployment");
  }

  get path(): string {
    return this.shared.path;
  }

  /** An organization's own backup, which can be restored on its own, too. */
  organization(id: string): ArchiveFolder {
    return new ArchiveFolder(path.join(this.path, FOLDER, id));
  }

  /** Throws unless the folder is empty or does not exist. */
  async requireEmpty(): Promise<void> {
    if ((await filesIn(this.path)).some((name) => !UNFINISHED.test(name)))
      throw new CommandError(
        `${this.path} has something else than a part of a deployment's backup. Name a new folder.`,
      );
  }

  async readManifest() {
    if (new ArchiveFolder(this.path).isWhole)
      throw new CommandError(
        `${this.path} is a backup of one organization. Leave --all out, or name another folder.`,
      );
    const signed = await this.shared.readSigned(DeploymentManifest);
    await this.shared.check(signed.manifest.parts);
    return signed;
  }

  /** Writes the index of all whole organizations, and removes the ones that were deleted during the copy. */
  async writeIndex(show: (line: string) => void): Promise<Extent> {
    await this.shared.cut(PARTS.organizations, NOTHING);
    let extent = NOTHING;
    for (const id of (await filesIn(path.join(this.path, FOLDER))).filter(isAccountId).sort()) {
      const folder = this.organization(id);
      if (folder.isWhole) {
        const { manifest } = await folder.readManifest();
        const { name } = manifest.organization;
        const indexed: IndexedOrganization = { id, name, backupId: manifest.backupId };
        extent = await this.shared.appendUnsigned(PARTS.organizations, indexed, extent);
      } else {
        show(`The organization ${id} was deleted before it was copied, and is left out.`);
        await rm(folder.path, { recursive: true });
      }
    }
    return extent;
  }

  async *readIndex(): AsyncGenerator<IndexedOrganization, void, void> {
    for await (const { text } of this.shared.slices(PARTS.organizations))
      yield JSON.parse(text) as IndexedOrganization;
  }
}

interface Named {
  readonly id: string;
  readonly name: string;
}

/** An organization that could not be handled, and why. */
export interface Failure extends Named {
  readonly why: string;
}

/** More would slow down other requests of the service. */
const AT_ONCE = 4;

/**
 * Handles all organizations, some at a time, and returns the failures, except where `isOver` holds. An error of `isOver`
 * ends everything, once the work under way is done.
 */
export async function eachOrganization<Organization extends Named>(
  organizations: AsyncIterable<Organization>,
  handle: (organization: Organization) => Promise<void>,
  isOver: (organization: Organization) => Promise<boolean>,
): Promise<readonly Failure[]> {
  const iterator = organizations[Symbol.asyncIterator]();
  const failures: Failure[] = [];
  let hasEnded = false;
  const attempt = async (organization: Organization): Promise<void> => {
    try {
      await handle(organization);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      const { id, name } = organization;
      if (!(await isOver(organization))) failures.push({ id, name, why: error.message });
    }
  };
  const work = async (): Promise<void> => {
    try {
      while (!hasEnded) {
        const next = await iterator.next();
        if (next.done) return;
        await attempt(next.value);
      }
    } finally {
      hasEnded = true;
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
  for (const result of ended) if (result.status === "rejected") throw result.reason;
  return failures;
}
