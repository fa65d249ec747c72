/** Restores a deployment from a folder: first the people, then missing organizations. */
import { DEPLOYMENT, PARTS } from "../../features/backup/format.ts";
import { CommandError } from "../process/command.ts";
import { type DeploymentFolder, eachOrganization, type IndexedOrganization } from "./deployment-folder.ts";
import { type ClientOf, findOrganization, type OperatorClient, signedRequest } from "./operator-client.ts";
import { Restore } from "./restore.ts";

export class DeploymentRestore {
  readonly #clientOf: ClientOf;
  readonly #client: OperatorClient;
  readonly #folder: DeploymentFolder;
  readonly #show: (line: string) => void;
  readonly #existing: IndexedOrganization[] = [];
  #restored = 0;

  constructor(clientOf: ClientOf, folder: DeploymentFolder, show: (line: string) => void) {
    this.#clientOf = clientOf;
    this.#client = clientOf(DEPLOYMENT, show);
    this.#folder = folder;
    this.#show = show;
  }

  /** Restores the missing parts. `existing` organizations stay as they are; `people` counts the added ones. */
  async run() {
    const { manifest, ...signed } = await this.#folder.readManifest();
    await this.#client.data("begin", signedRequest(signed, { backup: manifest.backupId }));
    const people = await this.#addPeople(manifest.backupId);
    const failures = await eachOrganization(
      this.#folder.readIndex(),
      async (indexed) => {
        if (!(await this.#noteExisting(indexed))) await this.#restore(indexed);
      },
      (indexed) => this.#noteExisting(indexed),
    );
    await this.#client.data("finish");
    return { failures, people, restored: this.#restored, existing: this.#existing };
  }

  /** Gives up the restores of organizations that are under way. */
  async cancel() {
    await this.#folder.readManifest();
    let cancelled = 0;
    const isUnderWay = async ({ id }: IndexedOrganization) =>
      (await findOrganization(this.#client, id))?.isBeingRestored === true;
    const failures = await eachOrganization(
      this.#folder.readIndex(),
      async (indexed) => {
        if (!(await isUnderWay(indexed))) return;
        await this.#clientOf(indexed.id, this.#show).data("cancel");
        cancelled += 1;
      },
      async (indexed) => !(await isUnderWay(indexed)),
    );
    await this.#client.data("finish");
    return { cancelled, failures };
  }

  async #addPeople(backup: string): Promise<number> {
    this.#show("people …");
    let added = 0;
    for await (const slice of this.#folder.shared.slices(PARTS.people)) {
      const answer = await this.#client.data<{ added: number }>("people", signedRequest(slice, { backup }));
      added += answer.added;
    }
    return added;
  }

  async #noteExisting(indexed: IndexedOrganization): Promise<boolean> {
    const found = await findOrganization(this.#client, indexed.id);
    const exists = found !== null && !found.isBeingRestored;
    if (exists) this.#existing.push(indexed);
    return exists;
  }

  async #restore({ id, name, backupId }: IndexedOrganization): Promise<void> {
    const folder = this.#folder.organization(id);
    const show = (line: string) => this.#show(`${JSON.stringify(name)}: ${line}`);
    const { manifest } = await folder.readManifest();
    if (manifest.backupId !== backupId || manifest.organization.id !== id)
      throw new CommandError(
        `${folder.path} belongs to another backup. Restore it on its own, without --all.`,
      );
    await new Restore(this.#clientOf(id, show), folder, show).run();
    this.#restored += 1;
    show("complete.");
  }
}
