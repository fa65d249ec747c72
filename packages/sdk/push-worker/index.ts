/** `atrium/push-worker`: for the service worker of a page: shows what is pushed, and opens the page on a click. */

import type { PushMessage } from "@atrium/contract/resources/push-subscription.ts";

interface WindowClient {
  readonly url: string;
  focus(): Promise<unknown>;
}

interface ExtendableEvent {
  waitUntil(work: Promise<unknown>): void;
}

interface Events {
  push: ExtendableEvent & { readonly data: { json(): unknown } | null };
  notificationclick: ExtendableEvent & { readonly notification: Notification };
}

/** A service worker, without the types of its library, which those of pages exclude. */
interface ServiceWorker {
  readonly registration: Pick<ServiceWorkerRegistration, "scope" | "showNotification">;
  readonly clients: {
    matchAll(options: object): Promise<readonly WindowClient[]>;
    openWindow(url: string): Promise<unknown>;
  };
  addEventListener<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): void;
}

/** How notifications look beside their text. */
export interface PushOptions {
  /** The address of an image. */
  readonly icon?: string | undefined;
  /** The address of a small image of one color, for the status bar of phones. */
  readonly badge?: string | undefined;
}

/** The service's message in a push; undefined in one of your own. */
function messageOf(data: { json(): unknown } | null): PushMessage | undefined {
  try {
    return (data?.json() as { readonly atrium?: PushMessage } | null)?.atrium;
  } catch {
    return undefined;
  }
}

/**
 * Shows the notifications that the service pushes, one for each that is unread, and opens its page on a click: the window
 * that has it already, or a new one. Pushes of your own are left to your own listeners. Call it as the service worker starts.
 */
export function showPushNotifications({ icon, badge }: PushOptions = {}): void {
  const worker = globalThis as unknown as ServiceWorker;
  worker.addEventListener("push", (event) => {
    const atrium = messageOf(event.data);
    if (atrium === undefined) return;
    const { id, title, body } = atrium;
    const look = { ...(icon !== undefined && { icon }), ...(badge !== undefined && { badge }) };
    event.waitUntil(
      worker.registration.showNotification(title, { ...look, body, tag: id, data: { atrium } }),
    );
  });
  worker.addEventListener("notificationclick", (event) => {
    const atrium: PushMessage | undefined = event.notification.data?.atrium;
    if (atrium === undefined) return;
    event.notification.close();
    event.waitUntil(open(worker, atrium.url));
  });
}

/** Focuses the window with the page, or opens one; without a page, any window of the application. */
async function open({ clients, registration }: ServiceWorker, url: string | null): Promise<void> {
  const windows = await clients.matchAll({ type: "window", includeUncontrolled: true });
  const shown = windows.find((window) => url === null || window.url === url);
  await (shown === undefined ? clients.openWindow(url ?? registration.scope) : shown.focus());
}
