/** A page subscribes its browser to pushes, and its service worker opens the pushed notification. */
import { createECDH, randomBytes } from "node:crypto";
import { openInbox } from "atrium/inbox";
import { showPushNotifications } from "atrium/push-worker";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { sharedService } from "../cli/shared-service.ts";
import { type Meeting, meet } from "./clients.ts";

const service = await sharedService();
let meeting: Meeting;

beforeEach(async () => {
  meeting = await meet(service);
});

afterEach(() => vi.unstubAllGlobals());

/** A browser's push subscription: one at most, with an address of its own. */
class PushManager {
  #current: ReturnType<PushManager["make"]> | null = null;
  readonly keys: unknown[] = [];

  make() {
    const pair = createECDH("prime256v1");
    const endpoint = `https://push.example.com/${crypto.randomUUID()}`;
    const keys = { p256dh: pair.generateKeys("base64url"), auth: randomBytes(16).toString("base64url") };
    return {
      endpoint,
      toJSON: () => ({ endpoint, expirationTime: null, keys }),
      unsubscribe: async () => {
        this.#current = null;
        return true;
      },
    };
  }

  getSubscription = async () => this.#current;

  subscribe = async ({ applicationServerKey }: { applicationServerKey: unknown }) => {
    if (this.#current !== null) throw new Error("The browser has a subscription");
    this.keys.push(applicationServerKey);
    this.#current = this.make();
    return this.#current;
  };
}

const registrationWith = (pushManager: PushManager) =>
  ({ pushManager }) as unknown as ServiceWorkerRegistration;

async function personIn(name: string) {
  const { data } = await meeting.customer.send<{ identity: { id: string }; token: string }>(
    ...(["POST", "/identify", { customId: `${name}-${meeting.roomId}`, name }] as const),
  );
  const inbox = openInbox({ serverUrl: service.url, authToken: data.token });
  const subscribed = async () => {
    const path = `/identities/${data.identity.id}/push-subscriptions`;
    const answer = await meeting.customer.send<{ subscriptions: { endpoint: string }[] }>("GET", path);
    return answer.data.subscriptions.map(({ endpoint }) => endpoint);
  };
  return { inbox, subscribed };
}

it("a browser is subscribed once, and anew for another person, whose pushes the first one does not get", async () => {
  const [ada, bo] = [await personIn("Ada"), await personIn("Bo")];
  const pushManager = new PushManager();
  const registration = registrationWith(pushManager);
  let permission = "denied";
  vi.stubGlobal("Notification", { requestPermission: async () => permission });
  expect(await ada.inbox.subscribeToPush(registration)).toBe(false);
  permission = "granted";
  expect(await ada.inbox.subscribeToPush(registration)).toBe(true);
  expect(await ada.inbox.subscribeToPush(registration)).toBe(true);
  const ofAda = (await pushManager.getSubscription())?.endpoint;
  expect([await ada.subscribed(), pushManager.keys]).toEqual([
    [ofAda],
    [expect.stringMatching(/^B[\w-]{86}$/)],
  ]);
  expect(await bo.inbox.subscribeToPush(registration)).toBe(true);
  const ofBo = (await pushManager.getSubscription())?.endpoint;
  expect([ofBo === ofAda, await bo.subscribed()]).toEqual([false, [ofBo]]);
  await bo.inbox.unsubscribeFromPush(registration);
  await bo.inbox.unsubscribeFromPush(registration);
  expect([await bo.subscribed(), await pushManager.getSubscription()]).toEqual([[], null]);
});

it("a click opens the page of a notification: the window that has it, or a new one", async () => {
  const listeners: Record<string, (event: object) => void> = {};
  const done: string[] = [];
  vi.stubGlobal("addEventListener", (name: string, listener: (event: object) => void) => {
    listeners[name] = listener;
  });
  vi.stubGlobal("clients", {
    matchAll: async () => [{ url: "https://app.example/1", focus: async () => done.push("focus 1") }],
    openWindow: async (url: string) => done.push(`open ${url}`),
  });
  vi.stubGlobal("registration", {
    scope: "https://app.example/",
    showNotification: async (title: string, options: object) =>
      done.push(`${title} ${JSON.stringify(options)}`),
  });
  showPushNotifications({ icon: "/icon.png" });
  const dispatch = async (name: string, event: object) => {
    let work: Promise<unknown> | undefined;
    listeners[name]?.({ ...event, waitUntil: (given: Promise<unknown>) => (work = given) });
    await work;
    return done.splice(0);
  };
  const pushed = (data: unknown) => dispatch("push", { data: { json: () => data } });
  const atrium = { id: "1", title: "Board", body: "Bo: Hello", url: null };
  expect(await pushed({ atrium })).toEqual([
    `Board ${JSON.stringify({ icon: "/icon.png", body: "Bo: Hello", tag: "1", data: { atrium } })}`,
  ]);
  expect([await pushed({ own: 1 }), await pushed(null), await dispatch("push", { data: null })]).toEqual([
    [],
    [],
    [],
  ]);
  const click = (data: unknown) =>
    dispatch("notificationclick", { notification: { data, close: () => done.push("close") } });
  const at = (url: string | null) => ({ atrium: { ...atrium, url } });
  expect(await click(at("https://app.example/1"))).toEqual(["close", "focus 1"]);
  expect(await click(at("https://app.example/2"))).toEqual(["close", "open https://app.example/2"]);
  expect(await click(at(null))).toEqual(["close", "focus 1"]);
  expect(await click(undefined)).toEqual([]);
});
