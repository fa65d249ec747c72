/** `atrium/offline`: keeps stores and unsent writes on the device, for the client's option `offline`. */
import type { AtriumError } from "../client/index.ts";
import type { OfflineSupport } from "../client/offline.ts";
import { report } from "../core/emitter.ts";
import type { RejectedWrite } from "./change-recorder.ts";
import { DevicePersistence } from "./device-persistence.ts";
import { indexedDbStorage } from "./indexed-db-storage.ts";
import type { OfflineStorage } from "./storage.ts";

export type { RejectedWrite } from "./change-recorder.ts";
export { type IndexedDbOptions, indexedDbStorage } from "./indexed-db-storage.ts";
export { memoryStorage } from "./memory-storage.ts";
export type {
  KeptChange,
  KeptEntry,
  KeptStores,
  KeptWrite,
  KeptWriteId,
  OfflineListener,
  OfflineRoom,
  OfflineStorage,
  StoresChange,
} from "./storage.ts";

export interface KeepOfflineOptions {
  /** The browser's IndexedDB unless you pass another storage. */
  readonly storage?: OfflineStorage | undefined;
  /** The names of the stores to keep; all that are synced unless you name some. Writes are kept of all stores. */
  readonly stores?: readonly string[] | undefined;
  /** Called for each write of an earlier page that was refused or has an unknown outcome. The default logs it. */
  readonly onRejected?: ((write: RejectedWrite) => void) | undefined;
  /** Called when nothing more can be kept, with the code STORAGE_FAILED: once for each client, which goes on in memory. */
  readonly onError?: ((error: AtriumError) => void) | undefined;
}

/** Offline support for any number of clients. */
export interface Offline extends OfflineSupport {
  /** Deletes all kept data, as when a user signs out of a shared computer. Disconnect open clients first. */
  clear(): Promise<void>;
}

const reportRejected = ({ error }: RejectedWrite): void => report(error);

/** Keeps stores and unsent writes on the device, and opens them at once when a client starts, with or without a network. */
export function keepOffline(options: KeepOfflineOptions = {}): Offline {
  const { storage = indexedDbStorage(), stores, onRejected = reportRejected, onError = () => {} } = options;
  const includes = (name: string) => stores === undefined || stores.includes(name);
  return {
    attach: (base, runtime) =>
      new DevicePersistence(base, runtime, { storage, includes, onRejected, onError }),
    clear: () => storage.clear(),
  };
}
