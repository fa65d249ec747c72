/** A page whose network and storage a test controls, over a storage that it shares with others. */
import type { AtriumError } from "atrium/client";
import { keepOffline, type OfflineStorage, type RejectedWrite } from "atrium/offline";
import { CrashableStorage } from "./crashable-storage.ts";
import { ModelClient, settle } from "./model-client.ts";
import type { ModelRoom } from "./model-room.ts";

export class OfflinePage {
  readonly storage: CrashableStorage;
  readonly model: ModelClient;
  readonly rejected: RejectedWrite[] = [];
  readonly errors: AtriumError[] = [];

  constructor(room: ModelRoom, shared: OfflineStorage, userId = "ada") {
    this.storage = new CrashableStorage(shared);
    const offline = keepOffline({
      storage: this.storage,
      onRejected: (write) => this.rejected.push(write),
      onError: (error) => this.errors.push(error),
    });
    this.model = new ModelClient(room, userId, offline);
  }

  /** Joins, and waits for nothing from the network. */
  join(): void {
    this.model.client.join().catch(() => {}); // the page may end first
    this.model.sync();
  }

  /** Joins, and shows the state kept on the device. */
  async open(): Promise<this> {
    this.join();
    await settle();
    return this;
  }

  /** Exchanges and stores everything that is due. */
  async settle(): Promise<this> {
    for (let round = 0; round < 3; round += 1) {
      this.model.clock.advance(1_000);
      await this.model.deliverAll();
      while (!this.storage.isIdle) {
        await this.storage.store();
        await settle();
      }
    }
    return this;
  }

  crash(): void {
    this.storage.crash();
    this.model.socket?.cut();
    this.model.clock.stop();
  }
}
