/** Announces a committed change of a webhook or workflow: what happens afterwards is for those who listen then. */
import type { SubscriberGateway } from "./port/subscriber-port.ts";

interface AnnouncePorts {
  readonly accountId: string;
  readonly subscribers: Pick<SubscriberGateway, "subscriptionsChanged">;
  log(message: string, error: unknown): void;
}

/** Never rejects: what does not learn of the change reads it within a minute. */
export async function announceChange({ accountId, subscribers, log }: AnnouncePorts): Promise<void> {
  await subscribers.subscriptionsChanged(accountId).catch((error: unknown) => {
    log("A change of an organization's subscribers could not be announced everywhere", error);
  });
}
