/** The visitor of this window: an identity on the board that the address names. A reload keeps both. */
import { AtriumError } from "atrium/client";

const SHOWN = new URLSearchParams(location.search);
/** Names the board in its link; empty until the service has opened it. */
let board = SHOWN.get("room") ?? "";
/** Which window of the front page this is, "first" or "second", whose storage is one; empty in a window of its own. */
export const seat = self === top ? "" : window.name;

/** Tells the front page whether it can show this window in place of a picture. */
export const report = (state: "shown" | "closed"): void => parent.postMessage(state, location.origin);

/** The token is kept by board: a window can go from one to another. */
const keyOf = (code: string): string => `token:${seat}${code}`;
const keptToken = (): string => sessionStorage.getItem(keyOf(board)) ?? "";

/** The link that leads others to this board. */
export const boardLink = (): string => `${location.origin}/demo?room=${board}`;

interface Claims {
  readonly exp: number;
  readonly accountId: string;
  /** The one room that it opens. */
  readonly rooms: readonly [string];
}

function claimsOf(token: string): Claims {
  const payload = token.split(".")[1] ?? "";
  return JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
}

/** The ID of the board's room, once there is a token. */
export const boardId = (): string => claimsOf(keptToken()).rooms[0];

async function send<Data>(method: string, url: string, token?: string, body?: object): Promise<Data> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(body && { "Content-Type": "application/json" }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const { data, error }: { data: Data; error: AtriumError | null } = await response.json();
  if (error !== null) throw new AtriumError(error);
  return data;
}

/** The visitor's token, which lasts as long as a board. Without one, a new visitor comes: `?name=` names them. */
export async function visitorToken(): Promise<string> {
  const known = keptToken();
  if (known !== "" && claimsOf(known).exp * 1_000 > Date.now()) return known;
  const { token, room } = await send<{ token: string; room: string }>("POST", `/demo/visitors?${SHOWN}`);
  board = room;
  SHOWN.set("room", room);
  history.replaceState(null, "", boardLink());
  sessionStorage.setItem(keyOf(room), token);
  return token;
}

/** Asks the demo's back end as this visitor. Rejects with its refusal. */
export async function ask<Data>(method: string, path: string, body?: object): Promise<Data> {
  const token = await visitorToken();
  const url = new URL(`/demo/${path}`, location.origin);
  url.searchParams.set("roomId", boardId());
  return send(method, url.href, token, body);
}

/** Forgets the visitor, so that the next token is that of a new one. */
export const forgetVisitor = (): void => sessionStorage.removeItem(keyOf(board));

/** The room's page in the dashboard; null unless someone who has used it in this browser is a member of the demo's organization. */
export async function dashboardLink(): Promise<string | null> {
  if (localStorage.getItem("organization") === null) return null;
  const { accountId } = claimsOf(keptToken());
  const { me } = await send<{ me: { organizations: { id: string }[] } | null }>(
    "GET",
    "/dashboard/api/session",
  );
  const isMember = me?.organizations.some(({ id }) => id === accountId);
  return isMember ? `/dashboard/${accountId}/rooms/${boardId()}` : null;
}
