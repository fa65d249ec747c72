/** The visitor of this window: a user of the board that the address names, whom a reload keeps. */

const SHOWN = new URLSearchParams(location.search);
/** The token is kept by board: a window can go from one to another. */
const keyOf = (room: string): string => `token:${room}`;
/** A token with less time left is renewed; the client asks a minute before it expires. In seconds. */
const RENEWAL_SECONDS = 120;

/** Names the board in its link; empty until the service has opened it. */
let room = SHOWN.get("room") ?? "";

/** The link that leads others to this board. */
export const boardLink = (): string => `${location.origin}/demo?room=${room}`;

/** Makes the board's link the address of the page, and keeps the token of a response. */
async function keep(response: Response): Promise<string> {
  interface Answer {
    readonly data: { readonly token: string; readonly room?: string };
    readonly error: Error | null;
  }
  const { data, error }: Answer = await response.json();
  if (error !== null) throw new Error(error.message);
  room = data.room ?? room;
  history.replaceState(null, "", boardLink());
  sessionStorage.setItem(keyOf(room), data.token);
  return data.token;
}

/** Another token of the same visitor; null when this one has ended. */
async function renew(token: string): Promise<string | null> {
  const headers = { Authorization: `Bearer ${token}` };
  const response = await fetch("/demo/tokens", { method: "POST", headers });
  return response.status === 401 ? null : keep(response);
}

function claimsOf(token: string): {
  readonly exp: number;
  readonly accountId: string;
  readonly roomId: string;
} {
  const payload = token.split(".")[1] ?? "";
  return JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
}

/** The present token, renewed if it is about to end. Without one, or when it has ended, a new visitor: `?name=` names them. */
export async function visitorToken(): Promise<string> {
  const known = sessionStorage.getItem(keyOf(room));
  if (known !== null && claimsOf(known).exp - Date.now() / 1000 > RENEWAL_SECONDS) return known;
  const renewed = known === null ? null : await renew(known);
  if (room !== "") SHOWN.set("room", room);
  return renewed ?? keep(await fetch(`/demo/visitors?${SHOWN}`, { method: "POST" }));
}

/** Forgets the visitor, so that the next token is that of a new one. */
export const forgetVisitor = (): void => sessionStorage.removeItem(keyOf(room));

/** The room's page in the dashboard; null unless this browser has opened the demo's organization there. */
export function dashboardLink(): string | null {
  const token = sessionStorage.getItem(keyOf(room));
  if (token === null) return null;
  const { accountId, roomId } = claimsOf(token);
  return localStorage.getItem("organization") === accountId
    ? `/dashboard/${accountId}/rooms/${roomId}`
    : null;
}
