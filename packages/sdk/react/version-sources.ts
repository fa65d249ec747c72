/** The versions of a document as components read them, over REST with the room's token. */
import { getOrAdd } from "../core/emitter.ts";
import { type Ask, askOf, unlessMissing } from "../room-documents/document-requests.ts";
import type { DocumentChange, DocumentVersion } from "../wire/resources.ts";
import type { RoomHandle } from "./room-handle.ts";
import { type Reloaded, reloaded } from "./thread-sources.ts";

/** A version of a list. */
export interface ListedVersion extends DocumentVersion {
  /** The number of the version before, to compare with; null for the oldest one. */
  readonly previous: number | null;
}

export interface VersionList {
  /** Newest first. */
  readonly versions: readonly ListedVersion[];
  /** Whether older ones follow that are not loaded. */
  readonly hasMore: boolean;
}

/** The shared type to compare, and the versions: without `from`, all of `to` is new; without `to`, the document as it is. */
export interface VersionComparison {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** `text` by default. */
  readonly type?: "text" | "map" | "array" | "xml" | undefined;
  /** The name of the shared type; `default` by default. */
  readonly root?: string | undefined;
}

export interface VersionActions {
  /** Loads 50 older ones. */
  loadMore(): void;
  /** Reads the list again: the room makes versions by itself. */
  reload(): void;
  /** Names the document as it is. Throws CONFLICT if nothing has changed since another named version. */
  create(name: string): Promise<void>;
  /** Names a version; null takes its name. */
  rename(version: number, name: string | null): Promise<void>;
  /** Deletes a version, and nothing of the content. */
  delete(version: number): Promise<void>;
  /** Brings the document back by an edit that everyone receives. False if it shows the same already. */
  restore(version: number): Promise<boolean>;
  /** The document as it was, as one update for `Y.applyUpdate`. */
  read(version: number): Promise<Uint8Array>;
  /** The differences between two versions. Throws CONFLICT above 2 MiB or 200,000 items. */
  compare(comparison: VersionComparison): Promise<readonly DocumentChange[]>;
}

interface VersionPage {
  readonly versions: readonly DocumentVersion[];
  readonly next: number | null;
}

const NONE_YET: VersionPage = { versions: [], next: null };

interface OpenVersions extends Reloaded<VersionList> {
  readonly actions: VersionActions;
}

const PAGE = 50;
const READ_AT_ONCE = 100;

function openVersions({ client, connection }: RoomHandle, name: string): OpenVersions {
  const ask = askOf(client, name);
  let wanted = PAGE;
  const read = async (): Promise<VersionList> => {
    const versions: DocumentVersion[] = [];
    for (let before: number | null | undefined; ; ) {
      // One more than are shown, which the last of them is compared with.
      const query = { limit: Math.min(READ_AT_ONCE, wanted + 1 - versions.length), before };
      const page = await ask<VersionPage>("GET", ["versions"], { query }).catch(unlessMissing(NONE_YET));
      versions.push(...page.versions);
      if (page.next === null || versions.length > wanted) {
        const listed = versions.map((each, index) => {
          return { ...each, previous: versions[index + 1]?.version ?? null };
        });
        return { versions: listed.slice(0, wanted), hasMore: versions.length > wanted };
      }
      before = page.next;
    }
  };
  const list = reloaded<VersionList>(connection, {
    initial: { versions: [], hasMore: false },
    client,
    read,
    watch: () => () => {},
  });
  /** Makes a change, and reads the list again. */
  const change: Ask = async (...request) => {
    const result = await ask<never>(...request);
    list.reload();
    return result;
  };
  const actions: VersionActions = {
    loadMore: () => {
      wanted += PAGE;
      list.reload();
    },
    reload: list.reload,
    create: (versionName) => change("POST", ["versions"], { body: { name: versionName } }),
    rename: (version, versionName) =>
      change("PATCH", ["versions", `${version}`], { body: { name: versionName } }),
    delete: (version) => change("DELETE", ["versions", `${version}`]),
    restore: async (version) => {
      const { applied } = await change<{ applied: boolean }>("POST", ["versions", `${version}`, "restore"]);
      return applied;
    },
    read: async (version) => {
      const { update } = await ask<{ update: string }>("GET", [], { query: { version } });
      return Uint8Array.from(atob(update), (char) => char.charCodeAt(0));
    },
    compare: async (comparison) => {
      const query = { ...comparison };
      const { changes } = await ask<{ changes: DocumentChange[] }>("GET", ["compare"], { query });
      return changes;
    },
  };
  return { ...list, actions };
}

const opened = new WeakMap<RoomHandle, Map<string, OpenVersions>>();

export const versionsOf = (handle: RoomHandle, name: string): OpenVersions =>
  getOrAdd(
    getOrAdd(opened, handle, () => new Map<string, OpenVersions>()),
    name,
    () => openVersions(handle, name),
  );
