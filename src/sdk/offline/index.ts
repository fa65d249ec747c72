/** `atrium/offline`: keeps stores and unsent writes on the device, for the client's option `offline`. */

export type { RejectedWrite } from "./change-recorder.ts";
export { type IndexedDbOptions, indexedDbStorage } from "./indexed-db-storage.ts";
export { type KeepOfflineOptions, keepOffline, type Offline } from "./keep-offline.ts";
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
