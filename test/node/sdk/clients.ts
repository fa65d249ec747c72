/** Users in rooms of a running service, each with a client, and helpers that wait for events. */

import {
  AtriumClient,
  type AuthToken,
  type OfflineSupport,
  type SocketEvents,
  type StoreShapes,
} from "atrium/client";
import { afterEach } from "vitest";
import { DEFAULT_RUNTIME, type Runtime } from "../../../packages/sdk/core/runtime.ts";
import type { SharedService } from "../cli/shared-service.ts";
import { Customer } from "../stories/client.ts";

/** Limit against hanging, far above the time on a busy machine. */
const DEADLINE_MS = 100_000;

/** Reconnects without delay: these tests are not about how long it waits. */
export const EAGER: Runtime = { ...DEFAULT_RUNTIME, random: () => 0 };

export interface Meeting {
  readonly customer: Customer;
  readonly roomId: string;
}

const clients: AtriumClient[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.disconnect();
});

/** A new room, and a customer that reads it by REST. */
export async function meet(service: SharedService): Promise<Meeting> {
  const customer = new Customer(service, service);
  return { customer, roomId: (await customer.createRoom()).id };
}

/** A client that is disconnected when the test ends. */
export function clientOf<Shapes extends StoreShapes = Record<never, never>>(
  user: { readonly token: AuthToken },
  {
    serverUrl,
    stores,
    reconnect = true,
    offline,
  }: { serverUrl: string; stores?: Shapes; reconnect?: boolean; offline?: OfflineSupport },
  runtime: Runtime = EAGER,
): AtriumClient<Shapes> {
  const options = {
    serverUrl,
    authToken: user.token,
    reconnect,
    ...(stores === undefined ? {} : { stores }),
    ...(offline === undefined ? {} : { offline }),
  };
  const client = new AtriumClient<Shapes>(options, runtime);
  clients.push(client as unknown as AtriumClient);
  return client;
}

/** A new user of the room, who has joined it. */
export async function join<Shapes extends StoreShapes = Record<never, never>>(
  { customer, roomId }: Meeting,
  name: string,
  { serverUrl = customer.service.url, stores }: { serverUrl?: string; stores?: Shapes } = {},
): Promise<AtriumClient<Shapes>> {
  const user = await customer.createUser(roomId, name);
  const client = clientOf<Shapes>(user, { serverUrl, ...(stores === undefined ? {} : { stores }) });
  await client.join();
  return client;
}

/** The next payload of an event; rejects when none arrives in time. */
export function next<Payload>(
  what: string,
  listen: (listener: (payload: Payload) => void) => () => void,
): Promise<Payload> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      off();
      reject(new Error(`Not within ${DEADLINE_MS} ms: ${what}`));
    }, DEADLINE_MS);
    const off = listen((payload) => {
      clearTimeout(timer);
      off();
      resolve(payload);
    });
  });
}

/** The next event of a client's socket. */
export const nextOf = <Name extends keyof SocketEvents>(
  client: Pick<AtriumClient, "socket">,
  event: Name,
): Promise<SocketEvents[Name]> => next(event, (listener) => client.socket.on(event, listener));
