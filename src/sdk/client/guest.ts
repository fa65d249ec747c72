/** Redeems a link of a room, so that a guest enters: loaded by pages that do. */
import { Rest } from "../core/rest.ts";
import type { Identity, RedeemedLink } from "../wire/resources.ts";

export interface GuestOptions {
  /** The address of the service, such as `https://atrium.example`. */
  readonly serverUrl: string;
  readonly accountId: string;
  /** The link's secret, which the page has in the fragment of its address. */
  readonly secret: string;
  /** Others in the room see it. */
  readonly name: string;
  /** An http or https URL, which the pages of others load. */
  readonly profilePicture?: string;
  /** An earlier token of the guest, also an expired one: the guest stays the same. */
  readonly token?: string | undefined;
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** A guest, who may enter one room as long as the link lasts. */
export interface Guest {
  readonly identity: Identity;
  /** The room of the link, for `enterRoom`. */
  readonly roomId: string;
  /** The latest token. With it, `redeemLink` returns the same guest. */
  readonly token: string;
  /** For `authToken` of `Atrium`: redeems the link again for each further token. Throws as `redeemLink` does. */
  readonly authToken: () => Promise<string>;
}

export async function redeem(options: GuestOptions): Promise<Guest> {
  const { serverUrl, accountId, fetch, ...redemption } = options;
  const rest = new Rest({ serverUrl, accountId, authorization: null, ...(fetch && { fetch }) });
  const ask = (earlier: string | undefined) =>
    rest.post<RedeemedLink>(["links", "redeem"], { ...redemption, token: earlier });
  const { identity, room_id: roomId, token: first } = await ask(options.token);
  let token = first;
  let isUsed = false;
  const authToken = async () => {
    if (isUsed) ({ token } = await ask(token));
    isUsed = true;
    return token;
  };
  return {
    identity,
    roomId,
    get token() {
      return token;
    },
    authToken,
  };
}
