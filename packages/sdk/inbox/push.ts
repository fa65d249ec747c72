/**
 * Web push in a page: subscribes its browser, and closes read notifications. The service worker shows them
 * (`atrium/push-worker`).
 */
import type { Rest } from "../core/rest.ts";
import type { PushSubscriptions } from "../wire/resources.ts";

const PATH = ["me", "push-subscriptions"];

/** Whether the user allows notifications, after asking if that is undecided. */
export async function askForPermission(): Promise<boolean> {
  return "Notification" in globalThis && (await Notification.requestPermission()) === "granted";
}

/** Subscribes the browser. False when the service pushes nothing. */
export async function subscribe(rest: Rest, { pushManager }: ServiceWorkerRegistration): Promise<boolean> {
  const { public_key: publicKey, subscriptions } = await rest.get<PushSubscriptions>(PATH);
  if (publicKey === null) return false;
  const current = await pushManager.getSubscription();
  if (subscriptions.some(({ endpoint }) => endpoint === current?.endpoint)) return true;
  // This subscription is of another identity, an earlier key, or ended tokens: no push to it may arrive here.
  await current?.unsubscribe();
  const made = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey });
  const { endpoint, expirationTime, keys } = made.toJSON();
  await rest.post(PATH, { endpoint, expirationTime, keys });
  return true;
}

export async function unsubscribe(rest: Rest, { pushManager }: ServiceWorkerRegistration): Promise<void> {
  const current = await pushManager.getSubscription();
  if (current === null) return;
  await current.unsubscribe();
  await rest.delete(PATH, { body: { endpoint: current.endpoint } });
}

const isOurs = ({ data }: Notification): boolean => data?.atrium !== undefined;

/** Closes the shown notifications with these IDs; null closes all. */
export async function closeShown(ids: readonly unknown[] | null): Promise<void> {
  const registrations = (await globalThis.navigator?.serviceWorker?.getRegistrations()) ?? [];
  for (const registration of registrations)
    for (const shown of await registration.getNotifications())
      if (isOurs(shown) && (ids === null || ids.includes(shown.tag))) shown.close();
}
