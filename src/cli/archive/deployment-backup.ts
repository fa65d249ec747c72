/** Backs up a deployment to a folder: each organization by a backup of its own, then the people. */
import { randomUUID } from "node:crypto";
import * as format from "../../features/backup/format.ts";
import { CommandError } from "../process/command.ts";
import { type Extent, NOTHING, type SignedText } from "./archive-folder.ts";
import { Backup } from "./back-up.ts";
import { type DeploymentFolder, eachOrganization } from "./deployment-folder.ts";
import { type ClientOf, findOrganization, type OperatorClient, signedRequest } from "./operator-client.ts";

interface Progress {
  /** A {@link Beginning}. */
  readonly beginning: SignedText;
  readonly people: Extent & { readonly count: number; readonly after: string | null };
}

const NO_PEOPLE: Progress["people"] = { ...NOTHING, count: 0, after: null };

export class DeploymentBackup {
  readonly #clientOf: ClientOf;
  readonly #client: OperatorClient;
  readonly #folder: DeploymentFolder;
  readonly #show: (line: string) => void;
  #copied = 0;
  #earlier = 0;

  constructor(clientOf: ClientOf, folder: DeploymentFolder, show: (line: string) => void) {
    this.#clientOf = clientOf;
    this.#client = clientOf(format.DEPLOYMENT, show);
    this.#folder = folder;
    this.#show = show;
  }

  /**
   * Copies the missing parts. The backup is whole if there are no failures; `earlier` counts the copies of
   * earlier runs.
   */
  async run() {
    const progress = (await this.#resume()) ?? (await this.#begin());
    const failures = await eachOrganization(
      this.#listed(),
      (organization) => this.#copy(organization),
      async ({ id }) => !(await this.#exists(id)),
    );
    const people = failures.length > 0 ? 0 : await this.#finish(progress);
    return { failures, people, copied: this.#copied, earlier: this.#earlier };
  }

  async #begin(): Promise<Progress> {
    await this.#folder.requireEmpty();
    const beginning = await this.#client.signed("begin", { backupId: randomUUID() });
    await this.#folder.shared.make();
    const progress = { beginning, people: NO_PEOPLE };
    await this.#folder.shared.writeProgress(progress);
    return progress;
  }

  /** The note of an earlier run, which the service must have begun; null when there was none. */
  async #resume(): Promise<Progress | null> {
    const found = (await this.#folder.shared.readProgress()) as Partial<Progress> | null;
    if (found === null) return null;
    const { beginning, people } = found;
    if (beginning === undefined || people === undefined)
      throw new CommandError(
        `${this.#folder.path} has a part of a backup of one organization. Leave --all out, or name a new folder.`,
      );
    const { backupId, startedAt } = JSON.parse(beginning.text) as format.Beginning;
    await this.#client.data("resume", signedRequest(beginning, { backup: backupId }));
    this.#show(`Continuing the backup of the deployment that began at ${startedAt}.`);
    return { beginning, people };
  }

  async *#listed(): AsyncGenerator<format.ListedOrganization, void, void> {
    let after: string | null = null;
    do {
      const page: format.OrganizationPage = await this.#client.data("organizations", { json: { after } });
      yield* page.organizations;
      ({ after } = page);
    } while (after !== null);
  }

  async #exists(id: string): Promise<boolean> {
    return (await findOrganization(this.#client, id)) !== null;
  }

  async #copy({ id, name, isBeingRestored }: format.ListedOrganization): Promise<void> {
    const folder = this.#folder.organization(id);
    if (folder.isWhole) {
      this.#earlier += 1;
      return;
    }
    if (isBeingRestored) throw new CommandError("It is being restored. Complete or cancel that first.");
    const show = (line: string) => this.#show(`${JSON.stringify(name)}: ${line}`);
    await folder.make();
    const { files } = await new Backup(this.#clientOf(id, show), folder, id, show).run();
    this.#copied += 1;
    show(`complete, with ${files} files.`);
  }

  /** People are copied last, so that members of all organizations are among them. Returns their number. */
  async #finish({ beginning, people: noted }: Progress): Promise<number> {
    const { backupId, startedAt } = JSON.parse(beginning.text) as format.Beginning;
    const { shared } = this.#folder;
    let { count, after, ...extent } = this.#copied > 0 ? NO_PEOPLE : noted;
    this.#show("people …");
    await shared.cut(format.PARTS.people, extent);
    while (after !== null || extent.slices === 0) {
      const slice = await this.#client.signed("people", { backupId, after });
      extent = await shared.append(format.PARTS.people, slice, extent);
      const { people, after: next } = JSON.parse(slice.text) as format.PeopleSlice;
      [count, after] = [count + people.length, next];
      await shared.writeProgress({ beginning, people: { ...extent, count, after } });
    }
    const index = await this.#folder.writeIndex(this.#show);
    const parts = [
      await shared.describe(format.PARTS.people, extent),
      await shared.describe(format.PARTS.organizations, index),
    ];
    const finished = { backupId, startedAt, parts, organizations: index.slices, people: count };
    await shared.complete(await this.#client.signed("finish", finished));
    return count;
  }
}
