/** The visitor of this window: an identity on the board that the address names, or a guest by its link. A reload keeps both. */
import { AtriumError, redeemLink } from "atrium/client";

/** For a visitor whose access was taken away. */
export const CLOSED = "You have no access to this board. Ask the person who shared it.";

const SHOWN = new URLSearchParams(location.search);
/** A guest's address names the organization, and has the secret of the link behind `#`. */
const ORGANIZATION = SHOWN.get("guest");
export const IS_GUEST = ORGANIZATION !== null;
/** The token is kept by board: a window can go from one to another. */
const keyOf = (board: string): string => `token:${board}`;
/** A token with less time left is renewed; the client asks a minute before it expires. In seconds. */
const RENEWAL_SECONDS = 120;

/** Names the board in its link, which a guest does not know; empty until the service has opened it. */
let board = IS_GUEST ? location.hash : (SHOWN.get("room") ?? "");

/** The link that leads to this board: for others as well, unless it is a guest's. */
export const boardLink = (): string => (IS_GUEST ? location.href : `${location.origin}/demo?room=${board}`);

/** The link by which a guest enters with a secret. */
export const guestLink = (secret: string): string =>
  `${location.origin}/demo?guest=${claimsOf(keptToken()).accountId}#${secret}`;

interface Kept {
  readonly token: string;
  readonly room?: string;
}

async function answerOf<Data>(response: Response): Promise<Data> {
  const { data, error }: { data: Data; error: AtriumError | null } = await response.json();
  if (error !== null) throw new AtriumError(error);
  return data;
}

/** Makes the board's link the address of the page, and keeps the token. */
function keep({ token, room = board }: Kept): string {
  board = room;
  history.replaceState(null, "", boardLink());
  sessionStorage.setItem(keyOf(board), token);
  return token;
}

const keptToken = (): string => sessionStorage.getItem(keyOf(board)) ?? "";

const send = (method: string, path: string, token: string | null, body?: object): Promise<Response> =>
  fetch(path, {
    method,
    headers: {
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(body && { "Content-Type": "application/json" }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });

/** Another token of the same visitor; null when this one has ended. */
async function renew(token: string): Promise<string | null> {
  const response = await send("POST", `/demo/tokens?roomId=${roomOf(token)}`, token);
  if (response.status === 403) throw new AtriumError({ code: "FORBIDDEN", module: "Auth", message: CLOSED });
  return response.status === 401 ? null : keep(await answerOf(response));
}

interface Claims {
  readonly exp: number;
  readonly accountId: string;
  readonly identityId: string;
  /** The one room that it opens. */
  readonly rooms: readonly [string];
}

function claimsOf(token: string): Claims {
  const payload = token.split(".")[1] ?? "";
  return JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
}

const roomOf = (token: string): string => claimsOf(token).rooms[0];

/** The ID of the board's room, once there is a token. */
export const boardId = (): string => roomOf(keptToken());

/** This visitor's identity. */
export const ownId = (): string => claimsOf(keptToken()).identityId;

/** Whether the visitor is a guest who has not said a name yet, and so has no token. */
export const isUnnamed = (): boolean => IS_GUEST && keptToken() === "";

/** Lets a guest in by the link, or returns with the earlier token as the same guest. */
export async function redeem(guest: { readonly name: string; readonly token?: string }): Promise<string> {
  const link = { serverUrl: location.origin, accountId: ORGANIZATION ?? "", secret: board.slice(1) };
  return keep(await redeemLink({ ...link, ...guest }));
}

/** The present token, renewed if it is about to end. Without one, or when it has ended, a new visitor: `?name=` names them. */
export async function visitorToken(): Promise<string> {
  const known = keptToken();
  if (known !== "" && claimsOf(known).exp - Date.now() / 1000 > RENEWAL_SECONDS) return known;
  if (IS_GUEST) return redeem({ name: "Guest", token: known });
  const renewed = known === "" ? null : await renew(known);
  if (board !== "") SHOWN.set("room", board);
  return renewed ?? keep(await answerOf(await send("POST", `/demo/visitors?${SHOWN}`, null)));
}

/** Asks the demo's back end as this visitor. Rejects with its refusal. */
export async function ask<Data>(method: string, path: string, body?: object): Promise<Data> {
  const token = await visitorToken();
  const url = new URL(`/demo/${path}`, location.origin);
  url.searchParams.set("roomId", roomOf(token));
  return answerOf(await send(method, url.href, token, body));
}

/** Forgets the visitor, so that the next token is that of a new one. */
export const forgetVisitor = (): void => sessionStorage.removeItem(keyOf(board));

/** The room's page in the dashboard; null unless this browser has opened the demo's organization there. */
export function dashboardLink(): string | null {
  const { accountId, rooms } = claimsOf(keptToken());
  return localStorage.getItem("organization") === accountId
    ? `/dashboard/${accountId}/rooms/${rooms[0]}`
    : null;
}
